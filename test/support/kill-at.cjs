/**
 * Loaded into a server before all else: kills it (SIGKILL) before a call that moves, links or removes a file whose path
 * matches `AV_TEST_KILL_PATH` (a pattern for the end of the path), after `AV_TEST_KILL_CALLS` such calls have
 * succeeded. Each thread counts separately.
 */
const fs = require('node:fs')
const { syncBuiltinESMExports } = require('node:module')

const pattern = new RegExp(process.env.AV_TEST_KILL_PATH)
let left = Number(process.env.AV_TEST_KILL_CALLS)

function watch(home, name) {
  const real = home[name]
  home[name] = (...args) => {
    if (args.some((one) => typeof one === 'string' && pattern.test(one)) && left-- === 0)
      process.kill(process.pid, 'SIGKILL')
    return real.apply(home, args)
  }
}

for (const name of ['rename', 'link', 'symlink', 'rm', 'unlink']) {
  watch(fs.promises, name)
  watch(fs, `${name}Sync`)
}
syncBuiltinESMExports()
