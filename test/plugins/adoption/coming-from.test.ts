/** Follows the instructions of config/coming-from.md as written, with a small library of each program. */
import assert from 'node:assert/strict'
import { access, readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { commanded, scanned } from '../../support/adopting.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { layTartube, layYtptube, type Root } from '../../support/further-libraries.ts'
import { lastFirst } from '../../support/last-first.ts'
import { lay } from '../../support/lay.ts'
import { makeLibraries } from '../../support/libraries.ts'
import { placesApp } from '../../support/places.ts'
import { ROOT } from '../../support/sources.ts'
import '../../support/long.ts'

/** A library in the folder of this name below the root. */
const made = (name: string) => ({ name, make: ({ root }: Root) => makeLibraries(root, [name]) })
/** The small library for each heading. */
const LIBRARIES: Record<string, { name: string; make(root: Root): Promise<void> }> = {
  Pinchflat: made('pinchflat'),
  TubeArchivist: made('tubearchivist-v05'),
  TubeSync: made('tubesync'),
  'ytdl-sub': made('ytdl-sub'),
  Youtarr: made('youtarr'),
  MeTube: made('metube'),
  YTPTube: { name: 'ytptube', make: (root) => layYtptube(root, 'ytptube', [VIDEO.ferry, VIDEO.fog, VIDEO.nets]) },
  Tartube: { name: 'tartube', make: (root) => layTartube(root, 'tartube', [VIDEO.ferry, VIDEO.fog]) },
  'YoutubeDL-Material': made('youtubedl-material'),
  'yt-dlp': made('yt-dlp'),
}
/** What else can be imported, in the document's words → the kinds in the plan. */
const WORDS: Record<string, string[]> = {
  'watch history': ['watched'],
  positions: ['position'],
  'kept videos': ['keep'],
  'ignored videos': ['ignore'],
  subscriptions: ['channel', 'playlist'],
  playlists: ['platform_list'],
  'people’s own playlists': ['list'],
}

const text = await readFile(join(ROOT, 'config/coming-from.md'), 'utf8')
const recipes = text
  .split('\n## ')
  .slice(1)
  .map((part) => {
    const [title = '', ...rest] = part.split('\n')
    return { title, steps: rest.flatMap((line) => /^\d\. (.+)$/.exec(line)?.[1] ?? []) }
  })

test('each supported program has its five lines', () => {
  assert.deepEqual(
    recipes.map(({ title, steps }) => [title, steps.length]),
    Object.keys(LIBRARIES).map((title) => [title, 5]),
  )
})

for (const { title, steps } of recipes)
  test(`a user of ${title} finds what the text names, and imports it as it says`, async (t) => {
    const root = await temporaryFolder(lastFirst(t))
    const { name, make } = LIBRARIES[title]!
    await make({ root, lay: lay(root) })
    const here = (path: string): string => path.replace(/^\/srv\/[^/]+/, join(root, name))
    const pathsIn = (step: string): string[] => [...step.matchAll(/`(\/srv\/[^`]+)`/g)].map(([, path]) => here(path!))
    const [, roots = '', more = ''] = /^`AV_LIBRARY_ROOTS=(\S+) make run`(.*)$/.exec(steps[1]!) ?? []
    const [library = '', ...others] = pathsIn(steps[2]!)
    assert.deepEqual([more, others], ['', []])

    for (const path of pathsIn(steps[0]!)) await thereIs(path)
    const { settings } = await startTestPlatform(t)
    const app = await placesApp(t, { settings: { ...settings, libraryRoots: [here(roots)] } })
    const { found } = (await app.as('admin').get('/api/adoption/found/')).body
    const listed = found.find((one: Record<string, unknown>) => one['path'] === library)
    assert.equal(listed?.title, title, JSON.stringify(found))
    const { body: place } = await app.as('admin').post('/api/place/', { path: library })
    const id = await scanned(app, place.id)
    const { body: plan } = await app.as('admin').get(`/api/adoption/${id}/`)
    assert.equal(plan.source, listed.source)
    const kinds = new Set<string>(plan.along.map(({ kind }: Record<string, string>) => kind))
    for (const [words, own] of Object.entries(WORDS))
      assert.equal(
        steps[3]!.split(/[,:] | and |\.$/).includes(words),
        own.some((kind) => kinds.has(kind)),
        `${words}: ${[...kinds]}`,
      )
    await commanded(app, id, { command: 'adopt' })
    const { body: after } = await app.as('admin').get(`/api/adoption/${id}/`)
    assert.equal(after.state, 'adopted')
    assert.ok(after.states.done + after.states.left > 0, JSON.stringify(after))
  })

/** A name may contain … for a part that varies. */
async function thereIs(path: string): Promise<void> {
  if (!path.includes('…')) return access(path)
  const [start = '', end = ''] = basename(path).split('…')
  const names = await readdir(dirname(path))
  assert.ok(
    names.some((one) => one.startsWith(start) && one.endsWith(end)),
    `${path}: ${names}`,
  )
}
