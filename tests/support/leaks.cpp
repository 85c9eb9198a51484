// What LeakSanitizer is told to overlook (preset asan). Not ours: libtorch's archive reader forgets its directory when an
// archive is refused.
extern "C" const char*
__lsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier): the runtime's name

extern "C" const char* __lsan_default_suppressions() { return "leak:mz_zip_reader\n"; }  // NOLINT
