/** Imports, scans again and undoes thousands of films within a limit of memory that must also do for many more. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rssMb } from '../bench/support/processes.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startServer, until } from '../support/server.ts'
import { layMany } from '../support/ytdlp-folder.ts'

const FILMS = 5000
/** Limit for 100,000 of them: `make bench` imports that many within 60 MB. */
// a busy machine collects garbage later; an additional thread, or rows kept in memory, would exceed this
const MOST_MB = 75

test('5,000 films are imported and undone within the memory of 100,000', async (t) => {
  const [folder, root] = [await temporaryFolder(t), await temporaryFolder(t)]
  await layMany(root, FILMS)
  const env = { AV_LIBRARY_ROOTS: root, AV_SEGMENTS_URL: 'http://127.0.0.1:9', AV_PLATFORM_URL: 'http://127.0.0.1:9' }
  const server = await startServer(t, folder, env)
  const place = (await server.api('POST', '/api/place/', { path: root })).body.id
  const before = await rssMb(server.child.pid!)

  async function within(what: string, state: string, begin: () => Promise<number>) {
    const id = await begin()
    let most = 0
    const adoption = await until(
      `it is ${state}`,
      async () => {
        most = Math.max(most, await rssMb(server.child.pid!))
        return (await server.api('GET', `/api/adoption/${id}/`)).body
      },
      (body) => body.state === state || body.state === 'failed',
    )
    assert.equal(adoption.state, state)
    assert.ok(most - before <= MOST_MB, `${what} took ${most - before} MB`)
    return adoption
  }
  const scan = async () => (await server.api('POST', '/api/adoption/', { place })).body.id
  const command = (id: number, what: string) => async () => {
    await server.api('POST', `/api/adoption/${id}/`, { command: what })
    return id
  }

  const { id, outcomes } = await within('scan', 'planned', scan)
  assert.equal(outcomes.new.count, FILMS)
  await within('adopt', 'adopted', command(id, 'adopt'))
  const again = await within('scan again', 'planned', scan)
  assert.equal(again.unchanged, FILMS)
  await within('undo', 'undone', command(id, 'undo'))
  assert.deepEqual((await server.api('GET', '/api/video/')).body.data, [])
})
