/** What the documents say of the code is true: places of the contract, drawings, files that they name. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { drawnReadme, MAP_FILE } from '../config/plugin-map.ts'
import { ROOT } from './support/sources.ts'

const FOLDERS = ['core', 'plugins', 'config', 'test', '.github']
const TEXTS = /\.(ts|tsx|js|mjs|py|md|sh|css)$/

const texts = [
  'README.md',
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  ),
]
  .filter((path) => TEXTS.test(path) && !path.startsWith('test/data/recordings/'))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
const documents = texts.filter(({ path }) => path.endsWith('.md'))

test('every place of the contract that code and documents name is a heading of it', async () => {
  const contract = await readFile(join(ROOT, 'plugins/openapi/contract.md'), 'utf8')
  const headings = new Set([...contract.matchAll(/^#{2,3} ([0-9AB](?:\.\d+)?)\.? /gm)].map(([, number]) => number))

  const cited = texts.flatMap(({ path, text }) =>
    [...text.matchAll(/\bcontract,? (?:appendix )?([0-9]+(?:\.[0-9]+)?|[AB]\b)/gi)].map(([, number]) => ({
      path,
      number: number!,
    })),
  )
  const lost = cited.filter(({ number }) => !headings.has(number))

  assert.ok(cited.length > 80, 'the code cites the contract')
  assert.deepEqual(lost, [])
})

test('how plugins hang together is drawn as it is (node --import tsx --conditions=source config/plugin-map.ts draws it anew)', async () => {
  assert.equal(await readFile(MAP_FILE, 'utf8'), await drawnReadme())
})

test('every file of the project that a document names is there', () => {
  // Files that a running installation has, and those of somebody else.
  const places = /`((?:core|plugins|config|test|\.github|\.ci)\/[\w./-]+)`|\]\((?!https?:|#)([\w./-]+)(?:#[\w-]+)?\)/g
  const lost = documents.flatMap(({ path, text }) =>
    [...text.matchAll(places)]
      .map(([, fromRoot, relative]) => fromRoot ?? join(dirname(path), relative!))
      .filter((named) => !existsSync(join(ROOT, named)))
      .map((named) => `${path}: ${named}`),
  )

  assert.deepEqual(lost, [])
})
