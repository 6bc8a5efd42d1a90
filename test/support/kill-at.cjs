/**
 * Loaded into a server before all else: it is killed (SIGKILL) before a call that moves, links or removes a file whose
 * path has the end `AV_TEST_KILL_PATH` (a pattern), when that many such calls (`AV_TEST_KILL_CALLS`) have gone well. Each
 * thread counts its own.
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
