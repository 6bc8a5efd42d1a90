/** Second sites behind a protocol: servers run by rclone on this machine, and an SFTP server. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Scope } from './last-first.ts'
import { missingHere } from './required.ts'
import { freePort } from './reverse-proxy.ts'
import { until } from './server.ts'

interface RemoteSite {
  name: string
  skip: string | false
  /**
   * Serves an empty folder, and sets the environment variables that its programs need until the scope ends.
   * @returns the address of the repository, in restic's form
   */
  open(scope: Scope, folder: string): Promise<string>
}

const SFTP_SERVER = '/usr/lib/openssh/sftp-server'
const NO_RCLONE = missing('rclone', ['version'], 'rclone')

export const REMOTE_SITES: readonly RemoteSite[] = [
  { name: 'sftp', skip: missing(SFTP_SERVER, ['-h'], 'openssh-sftp-server'), open: openSftp },
  { name: 'a remote of rclone', skip: NO_RCLONE, open: openRclone },
  { name: 'a REST server', skip: NO_RCLONE, open: openRest },
]

function missing(program: string, args: readonly string[], name: string): string | false {
  try {
    execFileSync(program, args, { stdio: 'ignore' })
    return false
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return false
    return missingHere(name, `${name} is not installed (on Debian: apt-get install ${name})`)
  }
}

/**
 * OpenSSH's own server, started by the `ssh` that restic runs: a daemon would open the machine to others, and rclone's
 * server ends each session as if it had failed.
 */
async function openSftp(scope: Scope, folder: string): Promise<string> {
  const bin = join(folder, 'bin')
  await mkdir(bin)
  await writeFile(join(bin, 'ssh'), `#!/bin/sh\nexec ${SFTP_SERVER}\n`, { mode: 0o755 })
  setVariable(scope, 'PATH', `${bin}:${process.env['PATH']}`)
  return `sftp:anybody@127.0.0.1:${join(folder, 'repository')}`
}

async function openRclone(scope: Scope, folder: string): Promise<string> {
  const file = join(folder, 'rclone.conf')
  await writeFile(file, `[attic]\ntype = alias\nremote = ${folder}\n`)
  setVariable(scope, 'RCLONE_CONFIG', file)
  return 'rclone:attic:repository'
}

async function openRest(scope: Scope, folder: string): Promise<string> {
  const port = await freePort()
  const args = ['serve', 'restic', '--config', '', '--addr', `127.0.0.1:${port}`, folder]
  const server = spawn('rclone', args, { stdio: 'ignore' })
  const ended = once(server, 'exit')
  scope.after(async () => {
    server.kill()
    await ended
  })
  await until('rclone listens', () => isListening(port), Boolean)
  return `rest:http://127.0.0.1:${port}/repository/`
}

function setVariable(scope: Scope, name: string, value: string): void {
  const before = process.env[name]
  process.env[name] = value
  scope.after(() => {
    if (before === undefined) delete process.env[name]
    else process.env[name] = before
  })
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
