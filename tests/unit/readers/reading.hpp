// Reading from text in a test.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mfu/error.hpp"
#include "mfu/read.hpp"
#include "readers/reader.hpp"

// Files are named a, b, c ...
inline mfu::ReadResult read_texts(const std::vector<std::string>& texts, mfu::Notes& notes,
                                  std::size_t window = 256 * 1024) {
  return mfu::read_sources(
      texts.size(),
      [&texts](std::size_t i) {
        return mfu::ByteSource::from_memory(texts[i], std::string(1, static_cast<char>('a' + i)));
      },
      notes, window);
}

inline mfu::RunTimings read_text(const std::string& text, mfu::Notes& notes) {
  return read_texts({text}, notes).run;
}

inline mfu::RunTimings read_text(const std::string& text) {
  mfu::Notes notes;
  return read_text(text, notes);
}

// "kind: place: message (hint)", or "ok".
inline std::string outcome(const std::vector<std::string>& texts, std::size_t window = 256 * 1024) {
  try {
    mfu::Notes notes;
    (void)read_texts(texts, notes, window);
    return "ok";
  } catch (const mfu::Error& error) {
    return std::string(to_string(error.kind())) + ": " + error.what();
  }
}
inline std::string outcome(const std::string& text, std::size_t window = 256 * 1024) {
  return outcome(std::vector<std::string>{text}, window);
}

// A document with the given keys of the header and ranks: ",..." or nothing.
inline std::string document(const std::string& header, const std::string& ranks) {
  return R"({"schema":"mfu.run/1")" + header + R"(,"steps":[1,2],"ranks":[)" + ranks + "]}";
}
inline const std::string kRank0 = R"({"rank":0,"compute":[1,2],"comm":[3,4],"stall":[5,6]})";
inline const std::string kRank1 = R"({"rank":1,"compute":[1,2],"comm":[3,4],"stall":[5,6]})";
