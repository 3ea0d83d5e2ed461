#include <exception>
#include <new>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "mfu/error.hpp"
#include "outputs/terminal.hpp"

int main(int argc, char** argv) {
  mfu::app::prepare_process();
  try {
    const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    try {
      return mfu::app::run_command_line(arguments);
    } catch (const mfu::Error& error) {
      return mfu::app::report_error(error, arguments);
    }
  } catch (const mfu::app::ClosedPipe&) {
    return 141;
  } catch (const mfu::app::Interrupted&) {
    return 130;
  } catch (const std::bad_alloc&) {
    mfu::app::say("mfu: error: out of memory");
    return 2;
  } catch (const std::exception& error) {
    return mfu::app::report_bug(error.what());
  }
}
