/**
 * Loaded before the tests of a run (`run.ts`). To know whose an error is that nobody has caught, node:test of Node 20
 * follows each promise of the process to its end: an eighth of all that tests take. As the tests of a process take
 * turns, such an error belongs to the one that began last, and nothing need be followed.
 */
const hooks = require('node:async_hooks')
const { isMainThread } = require('node:worker_threads')

const UNCAUGHT = ['uncaughtException', 'unhandledRejection']

// Threads of the server have no tests.
if (isMainThread) loadUnfollowed()

/** Node's own tests module takes these three from `async_hooks` as it loads; everybody else has them as they were. */
function loadUnfollowed() {
  const { AsyncResource, createHook, executionAsyncId } = hooks
  /** What node:test does with each test that is made. */
  let note
  let last
  let isUncaught = false

  class Resource extends AsyncResource {
    constructor(type, options) {
      super(type, options)
      note?.(this.asyncId(), type, executionAsyncId(), this)
    }

    runInAsyncScope(...given) {
      if (!this.hookType) last = this
      return super.runInAsyncScope(...given)
    }
  }

  const whose = () => {
    if (!isUncaught) return executionAsyncId()
    isUncaught = false
    while (last?.finished) last = last.parent
    return last?.asyncId()
  }
  const onUncaught = () => {
    isUncaught = true
  }
  const noHook = ({ init }) => ({
    enable() {
      note = init
      // They come before those of node:test, which ask whose it is.
      for (const event of UNCAUGHT) process.on(event, onUncaught)
    },
    disable() {
      note = undefined
      for (const event of UNCAUGHT) process.off(event, onUncaught)
    },
  })

  Object.assign(hooks, { AsyncResource: Resource, createHook: noHook, executionAsyncId: whose })
  require('node:test')
  Object.assign(hooks, { AsyncResource, createHook, executionAsyncId })
}
