// Is an object still there? For callbacks that may come after it.
#pragma once

#include <memory>

namespace errand {

// A member of the object that callbacks come back to. Declare it last, so that it goes first.
//
//   loop.post([this, here = alive_.watch()] {
//     if (here.gone()) return;
//     ...
//   });
//
// A watch may be copied, kept and destroyed on any thread. Ask it on the thread that destroys the object: elsewhere the
// answer is old when it comes.
class Alive {
 public:
  class Watch {
   public:
    bool gone() const { return object_.expired(); }

   private:
    friend class Alive;
    explicit Watch(const std::shared_ptr<char>& object) : object_(object) {}
    std::weak_ptr<char> object_;
  };

  Alive() = default;
  Alive(const Alive&) = delete;  // What watches one object says nothing of its copy.
  Alive& operator=(const Alive&) = delete;

  Watch watch() const { return Watch(object_); }
  // Every watch until now sees the object as gone.
  void renew() { object_ = std::make_shared<char>(); }

 private:
  std::shared_ptr<char> object_ = std::make_shared<char>();
};

}  // namespace errand
