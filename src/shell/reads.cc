#include "shell/reads.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/home.h"
#include "base/text.h"
#include "shell/parse.h"
#include "shell/rules.h"

namespace errand::shell {
namespace {

// A program that reads. Lists are words separated by blanks. Options of one letter may stand together ("-la") unless
// `apart`.
struct Reader {
  std::string_view programs;
  std::string_view verbs;   // The first operand must be one of these; empty: it has no verbs.
  std::string_view flags;   // Options without a value,
  std::string_view values;  // and those with one: the next word, "-n5" or "--lines=5".
  int operands = -1;        // At most so many (behind the verb); -1: any number.
  bool numbers = false;     // "-5" is an option too.
  bool apart = false;       // "-name" is one option (find).
};

constexpr std::string_view git_diffs =
    "-p -u -s -w -b -M -C -z --stat --shortstat --numstat --name-only --name-status --patch --no-patch --raw --summary "
    "--cached --staged --word-diff --no-color --minimal --color --no-renames --check --oneline --graph --all "
    "--decorate "
    "--no-decorate --follow --merges --no-merges --first-parent --reverse --abbrev-commit --no-ext-diff --no-textconv "
    "--ignore-space-change --ignore-all-space --left-right --cherry-pick --branches --tags --remotes --date-order "
    "--topo-order";
constexpr std::string_view git_values =
    "-n -U -S -G -L --max-count --unified --since --until --after --before --author --committer --grep --format "
    "--pretty "
    "--date --diff-filter --abbrev --skip";

// Without the options that follow links on the way through folders (grep -R, find -L, diff -r): they read whatever the
// links lead to.
constexpr auto readers = std::to_array<Reader>({
    {"true false pwd whoami arch nproc uptime", "", "-L -P", "", 0},
    {":", "", "", ""},
    {"uname", "", "-a -s -n -r -m -p -i -o -v", "", 0},
    {"id", "", "-u -g -G -n -r", "", 1},
    {"echo", "", "-n -e -E", ""},
    {"date", "", "-u -R -I --utc --rfc-email --iso-8601", "", 0},
    {"ls", "",
     "-a -A -l -h -1 -t -r -S -R -d -F -i -s -n -g -o -p -c -u -x -X -C -G -U -v --all --almost-all --human-readable "
     "--reverse --recursive --directory --size --inode --full-time --group-directories-first --classify",
     "--color --sort --time-style --time --ignore -I"},
    {"cat", "", "-n -b -s -A -e -E -t -T -v --number --show-all --squeeze-blank", ""},
    {"head", "", "-q -v -z --quiet --verbose", "-n -c --lines --bytes", -1, true},
    {"tail", "", "-q -v -z --quiet --verbose", "-n -c --lines --bytes", -1, true},
    {"wc", "", "-l -w -c -m -L --lines --words --bytes --chars --max-line-length", ""},
    {"nl tac rev fold expand unexpand", "", "-b -s -w -a", ""},
    {"cut", "", "-s --only-delimited", "-d -f -c -b --delimiter --fields --characters --output-delimiter"},
    {"tr", "", "-d -s -c -C --delete --squeeze-repeats --complement", ""},
    {"sort", "",
     "-n -r -u -f -b -d -h -V -M -g -s -z -c -i --numeric-sort --reverse --unique --human-numeric-sort "
     "--version-sort --ignore-case --stable",
     "-k -t --key --field-separator"},
    {"uniq", "", "-c -d -u -i -z -D --count --repeated --unique --ignore-case", "-f -s -w", 1},
    {"comm join paste", "", "-1 -2 -3 -i -z -s", "-d -t -j"},
    {"column", "", "-t", "-s -c -o"},
    {"seq", "", "-w", "-s -f"},
    {"basename dirname", "", "-a -z", "-s"},
    {"realpath readlink", "", "-f -e -m -s -z -q", "--relative-to"},
    {"stat", "", "-L -f -t --dereference --file-system --terse", "-c --format --printf"},
    {"file", "", "-b -i -L -h --brief --mime --mime-type --mime-encoding", ""},
    {"du", "", "-s -h -a -c -k -m -b -x --summarize --human-readable --all --total --apparent-size",
     "-d --max-depth --exclude"},
    {"df", "", "-h -k -m -T -i -a -P --human-readable --print-type", ""},
    {"cmp diff", "", "-u -q -s -N -w -b -B -i -y -a -c -E -Z --brief --unified --side-by-side --report-identical-files",
     "-U -C -x --exclude --color --context"},
    {"md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum", "", "-b -t", ""},
    {"od hexdump", "", "-c -C -x -b -d -o -v", "-A -t -N -j -n -s -w"},
    {"strings", "", "-a -f", "-n -t"},
    {"grep egrep fgrep", "",
     "-i -n -r -l -L -v -c -w -x -o -h -H -E -F -G -P -s -q -a -I -b -z --ignore-case --line-number --recursive "
     "--files-with-matches --files-without-match --invert-match --count --word-regexp --only-matching --no-filename "
     "--with-filename --extended-regexp --fixed-strings --perl-regexp --no-messages --quiet --text",
     "-e -A -B -C -m --regexp --after-context --before-context --context --max-count --include --exclude "
     "--exclude-dir --color",
     -1, true},
    {"rg", "",
     "-i -n -l -v -c -w -x -o -F -P -s -S -q -a -u -U -N -H -I -0 --ignore-case --smart-case --case-sensitive "
     "--line-number --no-line-number --files --files-with-matches --files-without-match --invert-match --count "
     "--hidden "
     "--no-ignore --word-regexp --only-matching --fixed-strings --multiline --no-heading --heading --json --pcre2 "
     "--quiet --stats --trim",
     "-e -g -t -T -A -B -C -m -d -j --regexp --glob --iglob --type --type-not --after-context --before-context "
     "--context --max-count --max-depth --color --sort"},
    {"find", "",
     "-print -print0 -prune -empty -not -a -o -and -or -H -P -xdev -mount -depth -daystart -true -false -readable "
     "-writable -executable -nouser -nogroup -ls",
     "-name -iname -path -ipath -wholename -regex -iregex -regextype -type -xtype -maxdepth -mindepth -size -mtime "
     "-ctime -atime -mmin -cmin -amin -newer -perm -user -group -links -printf",
     -1, false, true},
    {"tree", "", "-a -d -f -i -p -s -h -D -F -r -t -C -n", "-L -I -P --filelimit --sort", -1, false, true},
    {"which", "", "-a", ""},
    {"type", "", "-a -t -p -P", ""},
    {"test [", "", "-e -f -d -s -r -w -x -L -h -n -z -a -o -nt -ot -ef", "", -1, false, true},
    {"git", "status",
     "-s -b -u -z --short --branch --porcelain --long --show-stash --ahead-behind --ignored --no-renames",
     "--untracked-files --ignored --porcelain"},
    {"git", "diff log show shortlog whatchanged", git_diffs, git_values, -1, true},
    {"git", "blame annotate", "-w -M -C -s -e -l -t --line-porcelain --porcelain", "-L --since"},
    {"git", "ls-files ls-tree",
     "-c -d -m -o -s -t -r -l -z --cached --deleted --modified --others --stage --exclude-standard --name-only "
     "--full-name "
     "--full-tree",
     ""},
    {"git", "rev-parse",
     "-q --short --verify --abbrev-ref --show-toplevel --is-inside-work-tree --git-dir --symbolic --quiet",
     "--short --abbrev-ref"},
    {"git", "rev-list", "--count --all --merges --no-merges --left-right --first-parent",
     "-n --max-count --since --until", -1, true},
    {"git", "describe name-rev", "--tags --all --always --long --dirty --exact-match", "--abbrev --match"},
    {"git", "merge-base cat-file check-ignore check-attr", "-p -t -s -e -v -a --is-ancestor --all", ""},
    {"git", "branch", "-a -r -v -l --all --remotes --list --show-current --no-color", "--sort --format", 0},
    {"git", "tag", "-l -n --list", "--sort --format", 0},
    {"git", "remote", "-v --verbose", "", 0},
    {"git", "--version version", "", "", 0},
});

// These run what they are given, but for this one word. (Not yarn, cargo, go, dotnet and others whose version is what a
// file of the folder names: they run that.)
constexpr std::string_view versioned =
    "node npm bun deno python python3 pip pip3 ruby gem gcc g++ clang clang++ make cmake ninja java javac php perl "
    "bash "
    "zsh jq rg curl gh";

// A pattern that can only become names below the folder, none of them an option. Not one with braces, which make words
// of any kind, nor one that begins a name with a dot: `.*` and `.?` are also "..".
bool is_harmless(const Word& pattern) {
  constexpr std::string_view globs = "*?[";
  if (pattern.quoted || pattern.text.contains('{') || globs.contains(pattern.text.front())) return false;
  return std::ranges::none_of(split(pattern.text, '/'), [&](std::string_view name) {
    return name.starts_with('.') && name.find_first_of(globs) != std::string_view::npos;
  });
}

// It names nothing outside of the folder that the command runs in, also as the value of an option.
bool stays_below(std::string_view word) {
  const auto leaves = [](std::string_view path) {
    // zsh reads "=ls" as the path of that program.
    if (path.starts_with('/') || path.starts_with('~') || path.starts_with('=')) return true;
    const auto segments = split(path, '/');
    return std::ranges::find(segments, "..") != segments.end();
  };
  if (leaves(word)) return false;
  const size_t equals = word.find('=');
  return equals == std::string_view::npos || !leaves(word.substr(equals + 1));
}

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// How the words of a command are read by one row: all of them are known to it.
class Words {
 public:
  Words(const Reader& reader, std::span<const Word> words) : reader_(reader), words_(words) {}

  bool known() {
    bool options = true, verb = !reader_.verbs.empty();
    int operands = 0;
    for (; at_ < words_.size(); ++at_) {
      const std::string& text = words_[at_].text;
      // Where the operands are counted, a pattern may be more of them: what `uniq a*` writes is the second.
      if (words_[at_].pattern && reader_.operands >= 0) return false;
      if (options && text == "--") {
        // find has expressions behind it.
        if (reader_.apart) return false;
        options = false;
      } else if (verb) {
        // `git -c x status` sets a program: the verb comes first.
        if (!in_list(reader_.verbs, text)) return false;
        verb = false;
      } else if (options && text.size() > 1 && text.front() == '-') {
        if (!option(text)) return false;
      } else {
        ++operands;
      }
    }
    return !verb && (reader_.operands < 0 || operands <= reader_.operands);
  }

 private:
  bool option(const std::string& text) {
    if (in_list(reader_.flags, text)) return true;
    if (in_list(reader_.values, text)) return value();
    if (reader_.numbers && is_number(std::string_view(text).substr(1))) return true;
    if (text.starts_with("--")) {
      const size_t equals = text.find('=');
      return equals != std::string::npos && in_list(reader_.values, text.substr(0, equals));
    }
    if (reader_.apart) return false;
    for (size_t i = 1; i < text.size(); ++i) {
      const std::string letter = std::string("-") + text[i];
      if (in_list(reader_.flags, letter)) continue;
      if (!in_list(reader_.values, letter)) return false;
      return i + 1 < text.size() || value();
    }
    return true;
  }
  // An option's value that looks like an option is none: the program may read it otherwise than we do.
  bool value() {
    if (++at_ >= words_.size()) return false;
    const std::string& text = words_[at_].text;
    return !text.starts_with('-') || is_number(std::string_view(text).substr(1));
  }

  const Reader& reader_;
  std::span<const Word> words_;
  size_t at_ = 0;
};

bool reads(const Command& command) {
  if (!command.assignments.empty() || command.words.empty()) return false;
  for (size_t i = 0; i < command.words.size(); ++i) {
    const Word& word = command.words[i];
    if (!word.known) return false;
    if (i == 0 ? word.quoted : (word.pattern && !is_harmless(word)) || !stays_below(word.text)) return false;
  }
  const std::span<const Word> rest = std::span(command.words).subspan(1);
  const std::string& program = command.words.front().text;
  if (rest.size() == 1 && rest.front().text == "--version" && in_list(versioned, program)) return true;
  return std::ranges::any_of(
      readers, [&](const Reader& reader) { return in_list(reader.programs, program) && Words(reader, rest).known(); });
}

// Streams that are no files.
bool is_stream(const Word& target) {
  return target.known && (target.text == "/dev/null" || target.text == "/dev/stdout" || target.text == "/dev/stderr");
}

// What a shell, or whoever is shown the command, may take for something else.
bool is_odd(unsigned char c) { return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f; }

}  // namespace

bool only_reads(std::string_view script) {
  if (!is_utf8(script) || std::ranges::any_of(script, is_odd)) return false;
  // In fish a quote after a backslash does not end what is quoted.
  if (script.contains("\\'")) return false;
  const Result<Script> parsed = parse(script);
  return parsed && parsed->plain && parsed->functions.empty() && !parsed->commands.empty() &&
         std::ranges::all_of(parsed->writes, is_stream) && std::ranges::all_of(parsed->commands, reads);
}

std::vector<ReadName> names_read(std::string_view script) {
  std::vector<ReadName> names;
  const Result<Script> parsed = parse(script);
  if (!parsed) return names;
  for (const Command& command : parsed->commands)
    for (size_t i = 1; i < command.words.size(); ++i) {
      const Word& word = command.words[i];
      if (!word.text.starts_with('-')) names.push_back({word.text, word.pattern});
      if (const size_t equals = word.text.find('='); equals != std::string::npos)
        names.push_back({word.text.substr(equals + 1), word.pattern});
    }
  return names;
}

bool only_reads(std::string_view script, std::string_view folder) {
  const auto whole = [](std::string_view path) {
    std::string text = std::filesystem::path(path).lexically_normal().string();
    return text.ends_with('/') ? text : text + "/";
  };
  if (!folder.starts_with('/') || whole(from_home("~")).starts_with(whole(folder))) return false;
  return whole(folder) != "/" && only_reads(script);
}

}  // namespace errand::shell
