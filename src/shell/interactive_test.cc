#include "shell/interactive.h"

#include <set>

#include <gtest/gtest.h>

#include "shell/rules.h"

namespace errand::shell {
namespace {

struct Case {
  const char* command;
  const char* key;  // Of the refusal; null: it may start.
};

// clang-format off
// What people run in the background every day: not one of these may be refused.
constexpr const char* common[] = {
    "make", "make -j4 test", "make -C build install", "cmake -S . -B build && cmake --build build", "ninja -C build",
    "meson setup build", "./configure --prefix=/usr", "cargo build --release", "cargo test", "cargo run -- --port 80",
    "cargo install ripgrep", "go build ./...", "go test ./...", "go run main.go", "go mod tidy", "npm ci",
    "npm install", "npm i -D vite", "npm test", "npm run dev", "npm run build", "npm start", "npx vite",
    "npx tsc --noEmit", "npx create-react-app app", "npx playwright test", "yarn", "yarn install --frozen-lockfile",
    "yarn build", "yarn add react", "pnpm install", "pnpm run dev", "pnpm dlx serve", "bun install", "bun run dev",
    "deno run main.ts", "deno test", "pytest", "pytest -x -q tests/", "python3 -m pytest",
    "python3 -m http.server 8000", "python3 -m venv .venv", "python3 -c 'print(1)'", "python3 script.py",
    "python3 script.py -i in.txt", "python3 -u app.py", "python3.11 -m pip install -r requirements.txt",
    "pip install -e .", "pip3 install requests", "uv pip install flask", "uv run pytest", "poetry install",
    "poetry run pytest", "pipenv run python app.py", "conda env create -f env.yml", "conda install -y numpy",
    "node server.js", "node --inspect server.js", "node -e 'console.log(1)'", "node --test", "nodemon app.js",
    "ts-node app.ts", "docker build -t app .", "docker run -d -p 80:80 nginx",
    "docker run --rm -v $PWD:/w -w /w node:22 npm test", "docker run --rm -i alpine cat < f", "docker compose up",
    "docker compose up -d --build", "docker-compose logs -f", "docker exec db psql -U me -c 'select 1'",
    "docker logs -f web", "docker ps", "docker pull alpine", "docker push me/app", "docker system prune -f",
    "git pull", "git push origin main", "git clone https://example.org/x.git", "git log", "git log -p -3", "git diff",
    "git status", "git fetch --all", "git commit -m 'x'", "git commit -am 'x'", "git commit --amend --no-edit",
    "git commit -F msg.txt", "git commit -C HEAD", "git rebase main", "git merge feature", "git tag v1.0",
    "git tag -a v1 -m one", "git tag -l", "git add -A", "git add -u", "git checkout -b topic", "git stash",
    "git stash pop", "git reset --hard", "git clean -fdx", "git submodule update --init --recursive",
    "git -C /x commit -m y", "git -c core.editor=true rebase -i HEAD~2", "git cherry-pick abc",
    "git bisect run make test", "curl -fsSL https://example.org", "curl https://sh.example.org | sh",
    "curl -sSL https://x.example | bash -s -- -y", "wget -q https://example.org/a.tgz", "tar xzf a.tgz",
    "tar -czf - dir | ssh -o BatchMode=yes host 'cat > b.tgz'", "zip -r a.zip dir", "unzip -o a.zip",
    "rsync -az src/ host:dst/", "scp file host:", "ssh -o BatchMode=yes host uptime", "ssh host 'cd app && make'",
    "ssh -N -L 8080:localhost:80 host", "ssh host < script.sh", "psql -c 'select 1'", "psql -f schema.sql mydb",
    "psql mydb < dump.sql", "psql $DATABASE_URL -c 'select 1'", "sqlite3 db 'select 1'", "sqlite3 db < q.sql",
    "sqlite3 db .dump", "mysql -e 'select 1'", "mysql -u root db < dump.sql", "mysql -pSECRET -e 'x'",
    "mysqldump -uroot db > d.sql", "mongosh --eval 'db.stats()'", "redis-cli ping", "redis-server",
    "less -F < f | cat", "less file | head", "man ls | cat", "find . -name '*.o' -exec rm {} \\;",
    "find . -type f -print0 | xargs -0 grep x", "ls | xargs -n1 echo", "xargs -P4 -I{} sh -c 'echo {}' < list",
    "tail -f /var/log/syslog", "tail -n 100 log", "journalctl -f", "dmesg -w", "mvn test", "mvn -B package",
    "./mvnw spring-boot:run", "gradle build", "./gradlew bootRun", "dotnet build", "dotnet run", "dotnet test",
    "java -jar app.jar", "java -version", "sbt test", "bundle exec rspec", "bundle install", "rails s",
    "bin/rails server", "rails db:migrate", "rake test", "ruby script.rb", "ruby -e 'puts 1'", "php artisan serve",
    "php artisan migrate", "php -S localhost:8000", "php script.php", "composer install", "uvicorn main:app --reload",
    "gunicorn app:app", "flask run", "python3 manage.py runserver", "python3 manage.py migrate",
    "celery -A app worker", "terraform plan", "terraform init", "terraform apply -auto-approve",
    "terraform apply plan.tfplan", "kubectl apply -f x.yaml", "kubectl get pods -w", "kubectl logs -f pod",
    "kubectl exec pod -- ls /", "kubectl port-forward svc/x 8080:80", "kubectl rollout status deploy/x",
    "helm upgrade --install a b", "ansible-playbook site.yml", "bazel build //...", "tsc --watch", "eslint .",
    "jest --watchAll=false", "vitest run", "cypress run", "playwright test", "webpack --mode production",
    "next build", "vite build", "sleep 10", "for i in 1 2 3; do echo $i; done", "while true; do date; sleep 5; done",
    "i=0; while [ $i -lt 3 ]; do i=$((i+1)); done", "apt-get update", "apt-get install -y curl",
    "sudo -n apt-get install -y curl", "DEBIAN_FRONTEND=noninteractive apt-get -y upgrade", "apt list --installed",
    "apt-cache search x", "apt-get -qq install jq", "apt-get install --yes jq", "dnf install -y git", "apk add curl",
    "brew install jq", "pacman -Syu --noconfirm", "pacman -Ss vim", "pip uninstall -y x", "rm -rf build", "cp -a a b",
    "mv a b", "mkdir -p x && cd x && touch y", "chmod +x run.sh && ./run.sh", "bash build.sh", "bash -lc 'make test'",
    "sh -c 'echo hi; ls'", "bash -x script.sh -i", "bash <<'EOF'\nmake\nEOF", "python3 <<EOF\nprint(1)\nEOF",
    "python3 - < script.py", "echo '1+1' | bc", "bc <<< 1+1", "yes | apt install x", "printf 'y\\n' | npm init",
    "npm init -y", "gdb -batch -ex run ./a.out", "perl -pi -e 's/a/b/' f", "perl -ne 'print' f", "sed -i s/a/b/ f",
    "awk '{print $1}' f", "top -b -n 1", "top -bn1", "watchexec make", "nohup ./server > log 2>&1 &",
    "timeout 60 make test", "env FOO=1 BAR=2 ./run", "nice -n 10 make", "time make", "exec ./server",
    "command -v vim", "which vim", "type less", "vim --version", "apt install --dry-run x",
    "ffmpeg -y -i a.mp4 b.mp4", "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=x -keyout k -out c",
    "ssh-keygen -t ed25519 -N '' -f key", "ssh-keygen -R host", "gpg --batch --gen-key params", "gpg --verify a.sig",
    "crontab -l", "crontab file", "while read -r l; do echo $l; done < f", "cat f | while read l; do echo $l; done",
    "read -t 5 x", "read x < f", "docker login -u me --password-stdin < pw", "gh pr list", "gh auth status",
    "aws s3 sync a b", "aws configure set region x", "gcloud run deploy", "emacs --batch --script x.el",
    "nvim --headless +qa", "vim -es -c '%s/a/b/' -c wq f", "vim +PlugInstall +qall", "tmux new-session -d -s x",
    "tmux ls", "screen -dmS x cmd", "EDITOR=true git commit", "GIT_SEQUENCE_EDITOR=: git rebase -i HEAD~3",
    "export GIT_EDITOR=true; git rebase -i main", "R -e 'x'", "Rscript a.R", "julia script.jl",
    "erl -noshell -eval 'x'", "clj -M:test", "iex -e 'x'", "lua a.lua", "ghc Main.hs", "sbt clean compile", "$CMD",
    "\"$@\"", "$(which python3) x.py", "git commit $FLAGS", "apt-get $APT_OPTS install x",
};

constexpr Case refused[] = {
    // --- editors
    {"vim", "editor"}, {"vim notes.txt", "editor"}, {"vi /etc/hosts", "editor"}, {"/usr/bin/vim x", "editor"},
    {"nvim x", "editor"}, {"nano x", "editor"}, {"emacs x", "editor"}, {"emacs -nw x", "editor"}, {"ed x", "editor"},
    {"vim $FILE", "editor"}, {"vim \"$f\"", "editor"}, {"git commit", "editor"}, {"git commit -a", "editor"},
    {"git commit --amend", "editor"}, {"git -C /x commit", "editor"}, {"git add . && git commit", "editor"},
    {"git rebase -i HEAD~3", "editor"}, {"git rebase --interactive main", "editor"}, {"git tag -a v1", "editor"},
    {"git config --global -e", "editor"}, {"git commit -m x -e", "editor"}, {"crontab -e", "editor"},
    {"visudo", "editor"}, {"sudoedit /etc/x", "editor"}, {"svn commit", "editor"}, {"systemctl edit nginx", "editor"},
    {"kubectl edit deploy/x", "editor"}, {"kubectl -n a edit cm x", "editor"}, {"make && vim x", "editor"},
    {"cat f | vim -", "editor"}, {"(cd x; nano y)", "editor"}, {"if true; then vim x; fi", "editor"},
    {"for f in *; do vi $f; done", "editor"}, {"case $x in a) vim a;; esac", "editor"}, {"echo $(vim x)", "editor"},
    {"echo `nano x`", "editor"}, {"{ vim x; }", "editor"}, {"f() { vim x; }; f", "editor"}, {"FOO=1 vim x", "editor"},
    {"! vim x", "editor"}, {"true || vim x", "editor"}, {"vim x &", "editor"}, {"\\vim x", "editor"},
    {"v'i'm x", "editor"}, {"$'vim' x", "editor"}, {"\"vim\" x", "editor"},
    // --- through others
    {"env X=1 vim x", "editor"}, {"env -u A -i vim x", "editor"}, {"nohup vim x", "editor"}, {"time vim x", "editor"},
    {"/usr/bin/time -v vim x", "editor"}, {"timeout 5 vim x", "editor"}, {"timeout -k 5 10 vim x", "editor"},
    {"nice -n 5 vim x", "editor"}, {"exec vim x", "editor"}, {"command vim x", "editor"}, {"sudo -n vim x", "editor"},
    {"sudo -n -u root vim x", "editor"}, {"sh -c 'vim x'", "editor"}, {"bash -lc \"cd /x && vim y\"", "editor"},
    {"ls | xargs vim", "editor"}, {"find . -name x -exec vim {} \\;", "editor"}, {"ssh host vim x", "editor"},
    {"ssh -t host 'git commit'", "editor"}, {"su - me -c 'vim x'", "editor"}, {"docker exec web vim x", "editor"},
    {"kubectl exec pod -- vim x", "editor"}, {"eval 'vim x'", "editor"}, {"bash <<EOF\nvim x\nEOF", "editor"},
    {"env bash -c 'sh -c \"vim x\"'", "editor"}, {"stdbuf -oL vim x", "editor"}, {"setsid vim x", "editor"},
    {"flock /tmp/l vim x", "editor"}, {"busybox vi x", "editor"}, {"poetry run vim x", "editor"},
    {"bundle exec vim x", "editor"},
    // --- pagers
    {"less f", "pager"}, {"more f", "pager"}, {"man ls", "pager"}, {"cat f | less", "pager"},
    {"git log | less", "pager"}, {"info tar", "pager"},
    // --- interpreters
    {"python", "repl"}, {"python3", "repl"}, {"python3.11", "repl"}, {"python3 -i x.py", "repl"},
    {"python3 -q", "repl"}, {"python3 -", "repl"}, {"python3 -m pdb x.py", "repl"}, {"ipython", "repl"},
    {"node", "repl"}, {"irb", "repl"}, {"ghci", "repl"}, {"psql", "repl"}, {"psql -h db -U me mydb", "repl"},
    {"mysql", "repl"}, {"mysql -u root mydb", "repl"}, {"sqlite3", "repl"}, {"sqlite3 my.db", "repl"},
    {"mongosh", "repl"}, {"redis-cli", "repl"}, {"redis-cli -h db", "repl"}, {"bash", "repl"}, {"sh", "repl"},
    {"zsh", "repl"}, {"bash -l", "repl"}, {"bash -i", "repl"}, {"bc", "repl"}, {"gdb ./a.out", "repl"},
    {"php -a", "repl"}, {"lua", "repl"}, {"R", "repl"}, {"julia", "repl"}, {"iex -S mix", "repl"}, {"erl", "repl"},
    {"scala", "repl"}, {"rails console", "repl"}, {"bin/rails c", "repl"}, {"bundle exec rails console", "repl"},
    {"python manage.py shell", "repl"}, {"php artisan tinker", "repl"}, {"flask shell", "repl"},
    {"docker exec web bash", "repl"}, {"kubectl exec pod -- sh", "repl"}, {"perl", "repl"}, {"ruby", "repl"},
    {"deno", "repl"}, {"openssl", "repl"}, {"terraform console", "repl"}, {"sbt", "repl"}, {"lein repl", "repl"},
    {"sudo -n bash", "repl"},
    // --- terminals
    {"top", "terminal"}, {"htop", "terminal"}, {"watch ls", "terminal"}, {"watch -n 5 kubectl get pods", "terminal"},
    {"tmux", "terminal"}, {"tmux attach -t x", "terminal"}, {"tmux new -s x", "terminal"}, {"screen", "terminal"},
    {"screen -r", "terminal"}, {"dialog --msgbox x 5 5", "terminal"}, {"whiptail --yesno x 5 5", "terminal"},
    {"docker run -it alpine sh", "terminal"}, {"docker run --rm -ti -v /a:/a alpine", "terminal"},
    {"docker run --name x -t alpine", "terminal"}, {"docker exec -it web bash", "terminal"},
    {"docker attach web", "terminal"}, {"kubectl exec -it pod -- bash", "terminal"},
    {"kubectl exec pod -it -- bash", "terminal"}, {"kubectl run x -i --tty --image=alpine -- sh", "terminal"},
    {"ssh host", "terminal"}, {"ssh -p 2222 me@host", "terminal"}, {"telnet host 25", "terminal"},
    {"ftp host", "terminal"}, {"sftp host", "terminal"}, {"fzf", "terminal"}, {"mc", "terminal"},
    {"make menuconfig", "terminal"}, {"tig", "terminal"}, {"vagrant ssh", "terminal"}, {"adb shell", "terminal"},
    {"mosh host", "terminal"},
    // --- questions
    {"apt install x", "confirm"}, {"apt-get install x", "confirm"}, {"apt-get -q upgrade", "confirm"},
    {"apt remove x", "confirm"}, {"apt-get dist-upgrade", "confirm"},
    {"DEBIAN_FRONTEND=noninteractive apt-get install x", "confirm"}, {"sudo -n apt install x", "confirm"},
    {"dnf install x", "confirm"}, {"yum update", "confirm"}, {"zypper install x", "confirm"},
    {"pacman -S x", "confirm"}, {"pacman -Syu", "confirm"}, {"pip uninstall x", "confirm"},
    {"python3 -m pip uninstall x", "confirm"}, {"conda install numpy", "confirm"}, {"flatpak install x", "confirm"},
    {"terraform apply", "confirm"}, {"terraform destroy", "confirm"},
    {"terraform -chdir=x apply -var a=b", "confirm"}, {"pulumi up", "confirm"}, {"docker system prune", "confirm"},
    {"docker volume prune", "confirm"}, {"rm -i x", "confirm"}, {"rm -ri x", "confirm"},
    {"find . -ok rm {} \\;", "confirm"}, {"xargs -p rm", "confirm"}, {"vagrant destroy", "confirm"},
    {"npm init", "question"}, {"yarn init", "question"}, {"npm create vite", "question"},
    {"composer init", "question"}, {"poetry init", "question"}, {"read x", "question"},
    {"read -p 'Name: ' name", "question"}, {"echo hi; read -r x; echo $x", "question"},
    {"select x in a b; do echo $x; done", "question"}, {"ssh-keygen", "question"},
    {"ssh-keygen -t ed25519", "question"}, {"ssh-keygen -t rsa -N ''", "question"}, {"gpg --gen-key", "question"},
    {"gpg --full-generate-key", "question"}, {"openssl req -new -newkey rsa:2048 -keyout k -out c", "question"},
    {"git add -p", "question"}, {"git checkout -p main", "question"}, {"git clean -i", "question"},
    {"git mergetool", "question"}, {"fdisk /dev/sda", "question"}, {"parted /dev/sda", "question"},
    {"aws configure", "question"}, {"dpkg-reconfigure tzdata", "question"}, {"adduser bob", "question"},
    {"python manage.py createsuperuser", "question"}, {"certbot certonly", "question"},
    {"mvn archetype:generate", "question"},
    // --- passwords and logins
    {"sudo ls", "password"}, {"sudo apt install x", "password"}, {"sudo -E make install", "password"},
    {"sudo -u root ls", "password"}, {"sudo -S ls", "password"}, {"make && sudo make install", "password"},
    {"sudo -i", "password"}, {"su", "password"}, {"su - postgres", "password"}, {"passwd", "password"},
    {"passwd bob", "password"}, {"mysql -u root -p", "password"}, {"mysqldump -u root -p db", "password"},
    {"doas ls", "password"}, {"login", "password"}, {"docker login", "login"}, {"docker login ghcr.io", "login"},
    {"npm login", "login"}, {"npm adduser", "login"}, {"gh auth login", "login"}, {"gcloud init", "login"},
    {"gcloud auth login", "login"}, {"heroku login", "login"}, {"az login", "login"}, {"vercel login", "login"},
    {"cargo login", "login"}, {"terraform login", "login"},
};

// What looks as if it asked, and does not.
constexpr const char* look_alikes[] = {
    "./watch", "./login x", "scripts/read x", "top10", "./top", "sh2", "/opt/app/less f", "echo \\", "vim\\",
    "echo vim", "grep -r vim .", "echo 'apt install x'", "cat <<EOF\nvim x\nEOF",
    "cat > vim.sh <<'EOF'\nsudo apt install x\nEOF", "# vim x", "ls # vim", "mkdir less", "./vim.sh", "rm vim",
    "git log --grep=vim", "alias e='vim x'", "vim() { :; }; vim x", "python3 less.py", "node top", "npm run top",
    "npm run less", "yarn watch", "npm run watch", "docker build -t less .", "docker run --name vim -d x",
    "docker tag a b", "docker run -e T=-it alpine true", "docker run alpine sh -c 'ls -t'",
    "kubectl get pods -o yaml", "kubectl exec pod -- ls -t", "echo x | sudo -S ls", "sudo -n true", "sudo -V",
    "sudo -k", "ssh host 'echo vim'", "ssh -o BatchMode=yes -i key -p 22 me@host ls -la", "bash script.sh -c x",
    "bash -c 'echo python3'", "xargs -0 -n 1 echo < f", "find . -exec echo vim {} +", "git commit -m 'fix vim'",
    "git show HEAD:less", "git rebase --abort", "git rebase --continue", "git checkout main -- p",
    "git stash push -m x", "apt-get download x", "apt-cache show less", "dpkg -i x.deb", "psql -l", "mysqladmin ping",
    "sqlite3 -version", "sqlite3 a.db \"select 'x'\"", "node -v", "python3 -V", "python3 x.py < /dev/null",
    "python3 < x.py", "bash < x.sh", "cat x.sh | bash", "wget -qO- x | sh", "bc -l <<EOF\n1\nEOF", "ed -s f <<< 'w'",
    "less --version", "man -k x", "crontab - < f", "emacsclient -e x", "top -b | head", "tmux send-keys -t x y",
    "screen -ls", "fdisk -l", "parted -s /dev/sda print", "passwd -S root", "echo a:b | chpasswd", "terraform output",
    "terraform apply -input=false p", "npm create vite@latest a -- --template react", "ssh-keygen -lf k",
    "openssl x509 -in c -text", "openssl s_client -connect a:1", "gh auth login --with-token < t",
    "gcloud auth activate-service-account --key-file f", "docker login -u a -p b", "IFS=, read -r a b <<< \"$x\"",
    "printf x | read y", "mapfile -t a < f", "while IFS= read -r l; do :; done < <(ls)",
    "f() { read x; echo $x; }; echo 1 | f", "read -u 3 x", "rm -rf -- -i", "cp -r i I", "(exec 3<f; cat <&3)",
    "[[ $x =~ ^(a|b)$ ]] && echo y", "case $1 in vim) echo;; esac", "for less in 1 2; do echo $less; done",
    "x=vim; echo $x", "arr=(vim less); echo ${arr[0]}", "echo ${x:-vim}", "echo $((1+2))", "((i++))", "time -p ls",
    "coproc cat", "echo \"$(date)\" | tee f", "trap 'rm f' EXIT", "set -euo pipefail; make", "export EDITOR=vim",
    "git config core.editor vim", "visudo -c", "ansible-vault view f", "java -cp a Main < in",
};
// clang-format on

TEST(Interactive, WhatPeopleRunInTheBackgroundIsNotRefused) {
  static_assert(std::size(common) >= 60);
  for (const char* command : common) {
    const auto found = find_interactive(command);
    EXPECT_FALSE(found) << command << "\n  refused as " << (found ? found->key + ": " + refusal_text(*found) : "");
  }
}

TEST(Interactive, WhatOnlyLooksInteractiveIsNotRefused) {
  for (const char* command : look_alikes) {
    const auto found = find_interactive(command);
    EXPECT_FALSE(found) << command << "\n  refused as " << (found ? found->key + ": " + refusal_text(*found) : "");
  }
}

TEST(Interactive, WhatWaitsForAPersonIsRefusedWithTheReason) {
  static_assert(std::size(common) + std::size(refused) + std::size(look_alikes) >= 200);
  for (const Case& row : refused) {
    const auto found = find_interactive(row.command);
    EXPECT_TRUE(found) << row.command;
    if (!found) continue;
    EXPECT_EQ(found->key, row.key) << row.command << "\n  " << refusal_text(*found);
    EXPECT_FALSE(found->instead.empty()) << row.command;
    EXPECT_FALSE(found->reason.contains('{') || found->instead.contains("{program}") ||
                 found->instead.contains("{verb}"))
        << refusal_text(*found);
  }
}

TEST(Interactive, WordsThatAreGivenDirectlyAreReadAsTheyAre) {
  EXPECT_EQ(find_interactive(std::vector<std::string>{"vim", "x"})->key, "editor");
  EXPECT_EQ(find_interactive(std::vector<std::string>{"sh", "-c", "less f"})->key, "pager");
  EXPECT_EQ(find_interactive(std::vector<std::string>{"sudo", "apt", "install", "x"})->key, "password");
  EXPECT_FALSE(find_interactive(std::vector<std::string>{"echo", "$(vim)"}));
  EXPECT_FALSE(find_interactive(std::vector<std::string>{"echo", ";", "vim"}));
  EXPECT_FALSE(find_interactive(std::vector<std::string>{}));
}

TEST(Interactive, AVariableOfTheLaunchCountsAsOneOfTheScript) {
  EXPECT_TRUE(find_interactive("git commit"));
  EXPECT_FALSE(find_interactive("git commit", {"GIT_EDITOR"}));
}

TEST(Interactive, WhatCannotBeReadIsLetPass) {
  for (const char* command : {"vim 'x", "if vim; then", "vim x )", "echo $(vim x", ";; vim"})
    EXPECT_FALSE(find_interactive(command)) << command;
}

TEST(Interactive, TheTextNamesTheCommandAndTheWayOut) {
  const auto found = find_interactive("apt install curl");
  ASSERT_TRUE(found);
  const std::string text = refusal_text(*found);
  EXPECT_TRUE(text.contains("`apt install` asks a person to confirm")) << text;
  EXPECT_TRUE(text.contains("apt-get install -y")) << text;
  EXPECT_TRUE(text.contains("--allow-interactive")) << text;
}

// --- the tables themselves

TEST(InteractiveRules, EveryRuleHasAReasonAndAWayOut) {
  for (const Rule& rule : rules()) {
    EXPECT_FALSE(rule.programs.empty());
    EXPECT_FALSE(rule.instead.empty()) << rule.programs;
    EXPECT_NE(reason_of(rule.key), reason_of("no such key")) << rule.key;
    if (rule.verbs.empty() && rule.when.empty() && rule.unless.empty() && rule.fewer == 0 && rule.pass == never) {
      // Always refused: its programs do nothing else.
      EXPECT_FALSE(rule.programs.contains("git") && rule.programs.size() == 3) << rule.programs;
    }
  }
}

TEST(InteractiveRules, NoProgramHasTwoGrammars) {
  std::set<std::string> seen;
  for (const Grammar& grammar : grammars()) {
    std::string_view rest = grammar.programs;
    while (!rest.empty()) {
      const size_t space = std::min(rest.find(' '), rest.size());
      EXPECT_TRUE(seen.insert(std::string(rest.substr(0, space))).second) << rest.substr(0, space);
      rest.remove_prefix(std::min(space + 1, rest.size()));
    }
  }
}

}  // namespace
}  // namespace errand::shell
