/** MeTube's lists as Python pickles, which execute code when they are unpickled: they are never unpickled here. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { access, mkdir, rm, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { scanned } from '../../support/adopting.ts'
import { placesApp } from '../../support/places.ts'
import { layFilm } from '../../support/ytdlp-folder.ts'

const run = promisify(execFile)
const FILM = 'aaaaaaaaaaa'
const python = (code: string, ...args: string[]) => run('python3', ['-c', code, ...args])

/** Its list in each form that Python's shelve writes without additional packages, and as a bare object. */
const WRITE = `
import dbm.dumb, os, pickle, shelve, sys
folder, witness = sys.argv[1:]
class Evil:
    def __reduce__(self):
        return (open, (witness, 'w'))
for name in ('completed', 'queue', 'pending'):
    with shelve.Shelf(dbm.dumb.open(os.path.join(folder, name))) as shelf:
        shelf['https://www.youtube.com/watch?v=${FILM}'] = Evil()
    with open(os.path.join(folder, name), 'wb') as file:
        pickle.dump({'${FILM}': Evil()}, file)
for name in ('completed.json', 'completed.db', 'subscriptions.json', 'local_db.json', 'pinchflat.db', 'archive.txt'):
    with open(os.path.join(folder, name), 'wb') as file:
        pickle.dump({'kind': 'persistent_queue:completed', 'items': Evil()}, file)
`
const READ = `
import dbm.dumb, shelve, sys
shelve.Shelf(dbm.dumb.open(sys.argv[1]))['https://www.youtube.com/watch?v=${FILM}']
`
const isThere = (path: string) =>
  access(path).then(
    () => true,
    () => false,
  )

async function planned(t: TestContext, lay: (folder: string, witness: string) => Promise<void>) {
  const app = await placesApp(t)
  const place = await app.place('downloads')
  const [folder, witness] = [join(app.root, 'downloads/.metube'), join(app.dataDir, 'was-run')]
  await mkdir(folder)
  await layFilm(app, `downloads/A film [${FILM}].mp4`)
  await lay(folder, witness)
  const id = await scanned(app, place)
  const { data } = (await app.as('admin').get(`/api/adoption/${id}/item/`)).body
  const told: string[] = data.map((row: Record<string, string>) => row['reason'] || row['outcome'])
  return { told: told.sort(), witness }
}

test('lists with code that Python would execute are lines of the plan, and nothing of it is executed', async (t) => {
  const { told, witness } = await planned(t, async (folder, witness) => {
    await python(WRITE, folder, witness)
    await python(READ, join(folder, 'completed'))
    assert.ok(await isThere(witness), 'they do run where somebody reads them')
    await rm(witness)
  })

  assert.equal(await isThere(witness), false)
  assert.deepEqual(told, ['It is not an SQLite database', 'It is not complete JSON', 'It is not complete JSON', 'ask'])
})

test('a very large one is not read', async (t) => {
  const { told } = await planned(t, async (folder) => {
    for (const name of ['completed', 'completed.dat', 'completed.json']) {
      await writeFile(join(folder, name), '\x80\x04')
      await truncate(join(folder, name), 50 * 2 ** 30)
    }
  })

  assert.deepEqual(told, ['It is not a file, or is larger than 64 MiB', 'ask'])
})
