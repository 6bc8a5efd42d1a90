/**
 * Loaded before the tests of a run (`run.ts`). To find the test that an uncaught error belongs to, node:test of Node 20
 * tracks every promise of the process, which takes an eighth of the time of all tests. Because the tests of a process
 * run one after the other, such an error belongs to the test that started last, and no tracking is needed.
 */
const hooks = require('node:async_hooks')
const { isMainThread } = require('node:worker_threads')

const UNCAUGHT = ['uncaughtException', 'unhandledRejection']

// Threads of the server have no tests.
if (isMainThread) loadUnfollowed()

/** Node's tests module takes these three from `async_hooks` when it loads; all other code gets the originals. */
function loadUnfollowed() {
  const { AsyncResource, createHook, executionAsyncId } = hooks
  /** Called by node:test for each test that is created. */
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
      // These listeners run before those of node:test, which look for the test of the error.
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
