// The journal's two ends: what is written is what is read, whole or with the cut said, whoever is faster.
#include "process/journal.h"

#include <atomic>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/id.h"
#include "base/test_folder.h"
#include "process/fd.h"
#include "process/journal_writer.h"
#include "process/run.h"

namespace errand::process {
namespace {

class JournalFiles : public testing::Test {
 protected:
  JournalFiles() { make(); }

  void make() {
    std::filesystem::create_directory(folder());
    runs_.reset(::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY));
    run_.reset(::open(folder().c_str(), O_RDONLY | O_DIRECTORY));
    if (make_journal(run_.get()) != 0) std::abort();
  }
  std::string folder() const { return folder_ / "task_j.1"; }
  JournalWriter writer(JournalMode mode, int64_t limit = 0) { return {runs_.get(), "task_j.1", mode, limit}; }
  std::shared_ptr<Journal> reader() { return *Journal::open(folder()); }
  int64_t disk_bytes(const char* name) {
    struct stat info{};
    return ::stat((folder() + "/" + name).c_str(), &info) == 0 ? info.st_blocks * 512 : 0;
  }
  std::string log_text() {
    std::ifstream file(folder() + "/log", std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  TestFolder folder_;
  Fd runs_, run_;
};

// What byte stands at an offset, and of which stream it is: nothing needs to be remembered.
char byte_at(int64_t offset) { return static_cast<char>('a' + (offset * 2654435761u >> 13) % 26); }
std::string bytes_at(int64_t offset, size_t size) {
  std::string bytes(size, '\0');
  for (size_t i = 0; i < size; ++i) bytes[i] = byte_at(offset + static_cast<int64_t>(i));
  return bytes;
}

// Reads everything in random steps; every byte must be the right one. Answers the bytes that were cut.
int64_t read_and_check(Journal& journal, SeededRandom& random, int64_t until) {
  int64_t offset = 0, cut = 0;
  while (offset < until) {
    auto read = journal.read(offset, static_cast<int64_t>(1 + random.below(100'000)));
    if (!read) {
      ADD_FAILURE() << read.error().message;
      break;
    }
    int64_t expected = offset + read->cut;
    cut += read->cut;
    for (const Piece& piece : read->pieces) {
      EXPECT_EQ(piece.offset, expected);
      EXPECT_EQ(piece.bytes, bytes_at(piece.offset, piece.bytes.size())) << "at " << piece.offset;
      expected = piece.offset + static_cast<int64_t>(piece.bytes.size());
    }
    EXPECT_EQ(read->next, expected);
    if (read->next == offset) break;
    offset = read->next;
  }
  EXPECT_EQ(offset, until);
  return cut;
}

TEST_F(JournalFiles, StreamsAndTimesAreToldApart) {
  JournalWriter out = writer(JournalMode::log);
  out.append(Stream::out, "one\n", {1'000});
  out.append(Stream::out, "two\n", {1'010});
  out.append(Stream::err, "oops\n", {1'011});
  out.append(Stream::out, "three\n", {5'000});
  out.append(Stream::out, "four\n", {9'000});
  auto read = reader()->read(0, 1'000);
  ASSERT_TRUE(read);
  ASSERT_EQ(read->pieces.size(), 4u);
  EXPECT_EQ(read->pieces[0].bytes, "one\ntwo\n");
  EXPECT_EQ(read->pieces[0].at.ms, 1'000);
  EXPECT_EQ(read->pieces[1].bytes, "oops\n");
  EXPECT_EQ(read->pieces[1].stream, Stream::err);
  EXPECT_EQ(read->pieces[1].offset, 8);
  EXPECT_EQ(read->pieces[2].bytes, "three\n");
  EXPECT_EQ(read->pieces[3].at.ms, 9'000);
  EXPECT_EQ(read->next, 24);
  auto middle = reader()->read(6, 4);
  ASSERT_TRUE(middle);
  ASSERT_EQ(middle->pieces.size(), 2u);
  EXPECT_EQ(middle->pieces[0].bytes, "o\n");
  EXPECT_EQ(middle->pieces[1].bytes, "oo");
}

TEST_F(JournalFiles, AnEmptyJournalIsNoError) {
  auto journal = reader();
  EXPECT_EQ(journal->size(), 0);
  auto read = journal->read(0, 100);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->pieces.empty());
  EXPECT_EQ(read->next, 0);
  EXPECT_TRUE(journal->sync());
  JournalWriter out = writer(JournalMode::log);
  out.append(Stream::out, "x", {1});
  EXPECT_EQ(journal->size(), 1) << "a reader that came first sees what follows";
  EXPECT_FALSE(Journal::open(folder_ / "task_none.1"));
}

// R9.3, T12: whole up to the limit; past it head and tail, with the cut said, in bounded space.
TEST_F(JournalFiles, PastTheLimitHeadAndTailAreKept) {
  SeededRandom random(7);
  constexpr int64_t limit = 256 << 10;
  JournalWriter out = writer(JournalMode::log, limit);
  int64_t written = 0;
  while (written < limit) {
    size_t size = std::min<size_t>(1 + random.below(9'000), static_cast<size_t>(limit - written));
    out.append(random.one_in(3) ? Stream::err : Stream::out, bytes_at(written, size), {written});
    written += static_cast<int64_t>(size);
  }
  auto early = reader();
  EXPECT_EQ(read_and_check(*early, random, limit), 0) << "up to the limit nothing is cut";
  while (written < 5'000'000) {
    size_t size = 1 + random.below(200'000);
    out.append(random.one_in(3) ? Stream::err : Stream::out, bytes_at(written, size), {written});
    written += static_cast<int64_t>(size);
  }
  EXPECT_EQ(early->size(), written);
  int64_t cut = read_and_check(*early, random, written);
  EXPECT_LT(written - cut, limit + 1);
  EXPECT_GT(written - cut, limit * 3 / 4) << "most of what may be kept is kept";
  EXPECT_LE(disk_bytes("log"), limit + 8'192);
  EXPECT_LE(disk_bytes("index"), limit / 4);

  ASSERT_EQ(finish_journal(run_.get()), 0);
  EXPECT_EQ(read_and_check(*early, random, written), cut) << "a reader of the file before";
  EXPECT_EQ(read_and_check(*reader(), random, written), cut) << "a reader of the file for people";
  std::string text = log_text();
  EXPECT_EQ(text.substr(0, limit / 2), bytes_at(0, limit / 2));
  EXPECT_NE(text.find("\n[errand: " + std::to_string(cut) + " bytes were left out here]\n"), std::string::npos);
  EXPECT_EQ(text.substr(text.size() - 1'000), bytes_at(written - 1'000, 1'000));
}

TEST_F(JournalFiles, StreamsThatAlternateByteByByteKeepTheirBytes) {
  SeededRandom random(9);
  JournalWriter out = writer(JournalMode::log, 64 << 10);
  for (int64_t i = 0; i < 60'000; ++i) out.append(i % 2 ? Stream::err : Stream::out, bytes_at(i, 1), {i});
  EXPECT_EQ(read_and_check(*reader(), random, 60'000), 0);
  EXPECT_LE(disk_bytes("index"), 32 << 10);
}

// A reader is never given a byte that is not the child's, however fast the writer overtakes it.
TEST_F(JournalFiles, AReaderBesideAFloodSeesOnlyTrueBytes) {
  std::atomic<bool> done = false;
  auto journal = reader();
  std::thread flood([&] {
    JournalWriter out = writer(JournalMode::log, 64 << 10);
    int64_t written = 0;
    SeededRandom random(11);
    while (written < 30'000'000) {
      size_t size = 1 + random.below(20'000);
      out.append(random.one_in(2) ? Stream::err : Stream::out, bytes_at(written, size), {written});
      written += static_cast<int64_t>(size);
    }
    done = true;
  });
  SeededRandom random(12);
  int64_t reads = 0;
  while (!done) {
    int64_t size = journal->size();
    int64_t offset = size > 40'000 ? size - static_cast<int64_t>(random.below(40'000)) : 0;
    auto read = journal->read(offset, 8'000);
    if (!read) continue;  // Overtaken too often: it says so.
    EXPECT_FALSE(read->damaged) << "what is being written is not damaged, at " << offset;
    for (const Piece& piece : read->pieces) {
      if (piece.bytes != bytes_at(piece.offset, piece.bytes.size())) {
        ADD_FAILURE() << "wrong bytes at " << piece.offset;
        done = true;
      }
    }
    ++reads;
  }
  flood.join();
  EXPECT_GT(reads, 0);
}

// A protocol is never cut: at its bound it is not read, and what was released makes room.
TEST_F(JournalFiles, AProtocolStopsAtItsBoundAndGoesOnWhenReleased) {
  SeededRandom random(13);
  JournalWriter out = writer(JournalMode::protocol);
  auto journal = reader();
  int64_t written = 0, taken = 0;
  auto fill = [&] {
    while (out.has_room()) {
      std::string bytes = bytes_at(written, 130'000);
      out.append(Stream::out, bytes, {written});
      written += static_cast<int64_t>(bytes.size());
    }
  };
  fill();
  EXPECT_GE(written, protocol_bound);
  EXPECT_LT(written, protocol_bound + (1 << 20));
  while (written < 3 * protocol_bound) {
    while (taken < written) {
      auto read = journal->read(taken, 1 << 20);
      ASSERT_TRUE(read);
      EXPECT_EQ(read->cut, 0);
      for (const Piece& piece : read->pieces) {
        ASSERT_EQ(piece.offset, taken);
        ASSERT_EQ(piece.bytes, bytes_at(taken, piece.bytes.size()));
        taken += static_cast<int64_t>(piece.bytes.size());
      }
    }
    out.release(taken);
    ASSERT_TRUE(out.has_room());
    fill();
  }
  EXPECT_LE(disk_bytes("log"), protocol_bound + (8 << 20));
  auto released = journal->read(0, 100);
  ASSERT_TRUE(released);
  EXPECT_EQ(released->cut, taken) << "what was released is said to be gone";
}

// T17 in small: an index with flipped bits or a log cut short never crashes a reader.
TEST_F(JournalFiles, ADamagedJournalIsAnErrorAtMost) {
  SeededRandom random(17);
  {
    JournalWriter out = writer(JournalMode::log, 64 << 10);
    for (int64_t at = 0; at < 300'000; at += 1'000)
      out.append(at % 3 ? Stream::out : Stream::err, bytes_at(at, 1'000), {at});
  }
  const auto size = static_cast<int64_t>(std::filesystem::file_size(folder() + "/index"));
  Fd index(::open((folder() + "/index").c_str(), O_RDWR));
  for (int i = 0; i < 3'000; ++i) {
    auto place = static_cast<off_t>(random.below(i % 2 ? 64 : static_cast<uint64_t>(size)));
    char was = 0;
    ASSERT_EQ(::pread(index.get(), &was, 1, place), 1);
    char now = static_cast<char>(was ^ (1 << random.below(8)));
    ASSERT_EQ(::pwrite(index.get(), &now, 1, place), 1);
    auto journal = reader();
    for (int64_t offset : {int64_t{0}, int64_t{40'000}, int64_t{290'000}, int64_t{1} << 60}) {
      auto read = journal->read(offset, 70'000);
      if (read) {
        EXPECT_GE(read->next, 0);
      }
    }
    journal->size();
    ASSERT_EQ(::pwrite(index.get(), &was, 1, place), 1);
  }
  std::filesystem::resize_file(folder() + "/log", 10);
  auto read = reader()->read(5'000, 100);
  EXPECT_FALSE(read);
}

// One flipped bit in the log: the frame that it is in is left out and said, and everything else is shown.
TEST_F(JournalFiles, AFlippedBitIsSaidWhereItIsReadAndTheRestIsShown) {
  SeededRandom random(23);
  constexpr int64_t limit = 256 << 10;
  JournalWriter out = writer(JournalMode::log, limit);
  int64_t written = 0;
  while (written < 3 * limit) {
    const size_t size = 1 + random.below(40'000);
    out.append(random.one_in(3) ? Stream::err : Stream::out, bytes_at(written, size), {written});
    written += static_cast<int64_t>(size);
  }
  const int64_t over_limit = read_and_check(*reader(), random, written);
  for (const bool in_order : {false, true}) {
    if (in_order) {
      ASSERT_EQ(finish_journal(run_.get()), 0);
    }
    const std::string line = "bytes were left out here";
    const std::string whole = log_text();
    const Fd index(::open((folder() + "/index").c_str(), O_RDONLY));
    const JournalHeader header = *read_header(index.get());
    Fd log(::open((folder() + "/log").c_str(), O_RDWR));
    for (int i = 0; i < 300; ++i) {
      const auto place = static_cast<off_t>(random.below(whole.size()));
      // Bytes of the ring that were given up are nobody's, and the line for people is no output.
      int64_t printed = place;
      while (printed + header.layout.ring < written) printed += header.layout.ring;
      if (!in_order && place >= header.layout.head && printed < header.kept_from) continue;
      const size_t said = in_order ? whole.find(line) : std::string::npos;
      if (said != std::string::npos && std::abs(static_cast<int64_t>(said) - place) < 100) continue;
      const char wrong = static_cast<char>(whole[static_cast<size_t>(place)] ^ (1 << random.below(8)));
      ASSERT_EQ(::pwrite(log.get(), &wrong, 1, place), 1);
      auto journal = reader();
      int64_t damaged = 0, cut = 0;
      for (int64_t offset = 0; offset < written;) {
        auto read = journal->read(offset, static_cast<int64_t>(1 + random.below(100'000)));
        ASSERT_TRUE(read) << read.error().message;
        ASSERT_GT(read->next, offset);
        (read->damaged ? damaged : cut) += read->cut;
        if (read->damaged) {
          EXPECT_TRUE(read->pieces.empty());
        }
        for (const Piece& piece : read->pieces)
          ASSERT_EQ(piece.bytes, bytes_at(piece.offset, piece.bytes.size())) << "never a wrong byte, at " << place;
        offset = read->next;
      }
      EXPECT_GT(damaged, 0) << "at " << place;
      EXPECT_LE(damaged, journal_frame_max);
      EXPECT_EQ(cut, over_limit);
      ASSERT_EQ(::pwrite(log.get(), &whole[static_cast<size_t>(place)], 1, place), 1);
    }
    EXPECT_EQ(read_and_check(*reader(), random, written), over_limit);
  }
}

// What a supervisor wrote that knew no sums, and what one that is still running writes: read as ever.
TEST_F(JournalFiles, AJournalWithoutSumsIsRead) {
  SeededRandom random(29);
  {
    JournalWriter out = writer(JournalMode::log, 64 << 10);
    for (int64_t at = 0; at < 60'000; at += 700)
      out.append(at % 3 ? Stream::out : Stream::err, bytes_at(at, 700), {at});
  }
  Fd index(::open((folder() + "/index").c_str(), O_RDWR));
  const JournalHeader header = *read_header(index.get());
  int sums = 0;
  for (int64_t offset = 0; offset < header.total; offset += header.layout.span) {
    const int64_t place = header.layout.slot_place(offset);
    Slot slot{};
    ASSERT_EQ(::pread(index.get(), &slot, sizeof slot, place), ssize_t{sizeof slot});
    std::vector<IndexRecord> entries(static_cast<size_t>(slot.count)), records;
    const auto bytes = static_cast<ssize_t>(entries.size() * sizeof(IndexRecord));
    ASSERT_EQ(::pread(index.get(), entries.data(), static_cast<size_t>(bytes), place + 16), bytes);
    for (size_t i = 0; i < entries.size(); ++i) {
      const bool is_sum = i + 1 < entries.size() && FrameSum::of(entries[i], entries[i + 1]);
      sums += is_sum;
      if (!is_sum) records.push_back(entries[i]);
    }
    ASSERT_EQ(2 * records.size(), entries.size()) << "each frame has a sum";
    slot.count = std::ssize(records);
    ASSERT_EQ(::pwrite(index.get(), &slot, sizeof slot, place), ssize_t{sizeof slot});
    ASSERT_GT(::pwrite(index.get(), records.data(), records.size() * sizeof(IndexRecord), place + 16), 0);
  }
  EXPECT_GT(sums, 10);
  EXPECT_EQ(read_and_check(*reader(), random, header.total), 0);
  auto read = reader()->read(0, 2'000);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->pieces[0].stream, Stream::err);
  EXPECT_EQ(read->pieces[1].at.ms, 700);
}

// T16: a full disk costs output, not the run, and what was stored before stays right.
TEST_F(JournalFiles, AFullDiskStopsStoringAndGoesOnCounting) {
  pid_t child = ::fork();  // Mounts are its own.
  if (child == 0) {
    if (::unshare(CLONE_NEWNS) != 0 || ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tmpfs", folder_.path().c_str(), "tmpfs", 0, "size=1m") != 0)
      ::_exit(77);
    make();
    SeededRandom random(19);
    JournalWriter out = writer(JournalMode::log);
    int64_t written = 0;
    for (int i = 0; i < 40; ++i) {
      out.append(Stream::out, bytes_at(written, 100'000), {1});
      written += 100'000;
    }
    int64_t cut = read_and_check(*reader(), random, written);
    ::_exit(out.disk_full() && reader()->size() == written && cut > 2'900'000 && cut < written && !HasFailure() ? 0
                                                                                                                : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "mounting a small disk is not permitted here";
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace errand::process
