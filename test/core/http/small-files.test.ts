/** Pictures are served from memory as long as they are unchanged on disk. */
import assert from 'node:assert/strict'
import { rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { Type } from 'typebox'
import { file } from '../../../core/http/reply.ts'
import { smallFile } from '../../../core/http/small-files.ts'
import { defineRoute } from '../../../core/plugin/define.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { testServer } from './given.ts'

test('a small file is read once, and again after it has changed', async (t) => {
  const path = join(await temporaryFolder(t), 'picture')
  const read = async () => smallFile(path, await stat(path))
  await writeFile(path, 'one')
  const first = await read()
  assert.equal(await read(), first)

  await writeFile(`${path}.new`, 'two')
  await rename(`${path}.new`, path)

  assert.equal(String(first), 'one')
  assert.equal(String(await read()), 'two')
  await writeFile(path, Buffer.alloc(1_000_000))
  assert.equal(await read(), undefined, 'a large one is not held')
})

test('files in memory have a common limit', async (t) => {
  const folder = await temporaryFolder(t)
  const paths = Array.from({ length: 60 }, (_each, at) => join(folder, String(at)))
  for (const path of paths) await writeFile(path, Buffer.alloc(100_000))
  const held = async (path: string) => {
    const stats = await stat(path)
    const read = await smallFile(path, stats)
    return (await smallFile(path, stats)) === read
  }
  const first = await smallFile(paths[0]!, await stat(paths[0]!))
  for (const path of paths) assert.ok(await held(path))

  assert.notEqual(await smallFile(paths[0]!, await stat(paths[0]!)), first, 'it has made room')
})

test('from memory or from disk, a file has the same headers, and a client that has it gets a 304', async (t) => {
  const path = join(await temporaryFolder(t), 'picture.jpg')
  await writeFile(path, 'a picture')
  const route = (at: string, isLookedAt: boolean) =>
    defineRoute({
      method: 'GET',
      path: at,
      access: 'user',
      summary: at,
      reply: Type.Unknown(),
      handle: async () => file(path, 'image/jpeg', isLookedAt ? { stats: await stat(path) } : {}),
    })
  const { ask, raw, tokens } = await testServer(t, [route('/held/', true), route('/streamed/', false)])
  const answerOf = async (at: string, headers = {}) => {
    const { status, text, headers: sent } = await ask(at, { headers })
    const names = ['etag', 'last-modified', 'accept-ranges', 'content-type', 'content-length', 'cache-control']
    return { status, text, ...Object.fromEntries(names.map((name) => [name, sent.get(name)])) }
  }

  const held = await answerOf('/held/')
  assert.deepEqual(held, await answerOf('/streamed/'))
  // `fetch` would add Cache-Control: no-cache.
  const again = (at = '/held/', tag = (held as Record<string, unknown>)['etag']) =>
    raw(
      `GET ${at} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Token ${tokens.admin}\r\nIf-None-Match: ${tag}\r\n\r\n`,
    )
  for (const at of ['/held/', '/streamed/'])
    for (const tag of [undefined, '*']) assert.match(await again(at, tag), /^HTTP\/1\.1 304 /, `${at} ${tag}`)
  assert.equal((await answerOf('/held/', { Range: 'bytes=2-4' })).text, 'pic')
  await writeFile(path, 'another one')
  assert.match(await again(), /^HTTP\/1\.1 200 .*another one$/s)
})
