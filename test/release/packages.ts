/** What plugin authors install by npm, in a folder without anything else of this project: `make test-release`. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { buildPackages } from '../../config/build-packages.ts'
import manifest from '../../package.json' with { type: 'json' }
import { ROOT } from '../support/sources.ts'

/** Without the environment variables of the surrounding test run. */
const { NODE_TEST_CONTEXT: _inner, NODE_OPTIONS: _options, ...env } = process.env
const run = (program: string, args: string[], cwd: string): Promise<{ stdout: string }> =>
  promisify(execFile)(program, args, { cwd, env })

const VERSIONS: Readonly<Record<string, string>> = { ...manifest.dependencies, ...manifest.devDependencies }

/** Outside the tree, so that none of its packages is found. */
let folder: string
let tarballs: string[]
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'archivolt-authors-'))
  tarballs = await buildPackages(join(folder, 'tarballs'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module", "private": true }')
  const needed = [tarball('archivolt-plugin'), ...['tsx', 'typescript'].map((name) => `${name}@${VERSIONS[name]}`)]
  await run('npm', ['install', '--no-audit', '--no-fund', ...needed], folder)
})
after(() => rm(folder, { recursive: true, force: true }))

const tarball = (name: string): string => tarballs.find((path) => path.includes(`/${name}-`))!

async function aProject(name: string, files: Record<string, string>): Promise<string> {
  const project = join(folder, name)
  await mkdir(project)
  for (const [path, text] of Object.entries({ 'package.json': '{ "type": "module" }', ...files }))
    await writeFile(join(project, path), text)
  return project
}

/** Counts the videos that are added to the archive. */
const PLUGIN = `import { definePlugin, defineRoute, Type } from '@archivolt/plugin'

const Count = Type.Object({ count: Type.Integer() })
let count = 0
const show = defineRoute({
  method: 'GET', path: '/api/counter/', access: 'user', summary: 'What has come', reply: Count, handle: () => ({ count }),
})

export default definePlugin({
  name: 'counter',
  api: 1,
  needs: ['video'],
  routes: [show],
  on: {
    'video.added': ({ videos }) => async ({ id }) => {
      if (await videos.get(id)) count++
    },
  },
})
`
const TEST = `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aVideo, testApp } from '@archivolt/plugin/testing'
import counter from './plugin.EXT'

test('an added video is counted', async (t) => {
  const app = await testApp(t, { plugins: [counter] })

  await app.download(aVideo({ id: 'v1', title: 'Fog' }))

  assert.deepEqual((await app.as('user').get('/api/counter/')).body, { count: 1 })
  assert.equal((await app.as('user').get('/api/video/v1/')).body.data.title, 'Fog')
  assert.equal((await app.as('nobody').get('/')).status, 200)
})
`
const tested = (extension: string): string => TEST.replace('EXT', extension)

const TSCONFIG = JSON.stringify({
  compilerOptions: {
    ...{ target: 'es2022', module: 'nodenext', strict: true, noEmit: true, allowImportingTsExtensions: true },
    types: ['node'],
  },
  include: ['*.ts'],
})
const tsc = (project: string): Promise<{ stdout: string }> => run('npx', ['tsc', '-p', '.'], project)

test('a plugin in TypeScript finds its types: services, events and hooks of all plugins', async () => {
  const files = { 'plugin.ts': PLUGIN, 'plugin.test.ts': tested('ts'), 'tsconfig.json': TSCONFIG }
  const project = await aProject('typed', files)

  await tsc(project)
  await writeFile(join(project, 'plugin.ts'), PLUGIN.replace('videos.get(id)', 'videos.got(id)'))

  await assert.rejects(tsc(project), ({ stdout }) => /plugin\.ts\(16,\d+\): error TS\d+: Property 'got'/.test(stdout))
})

test('a plugin in JavaScript is tested with the whole server, by node alone', async () => {
  const project = await aProject('plain', { 'plugin.js': PLUGIN, 'plugin.test.js': tested('js') })

  const { stdout } = await run(process.execPath, ['--test'], project)

  assert.match(stdout, /# pass 1\n# fail 0/)
})

const CREATED = [
  ['tide9', 'route,event,task,preference,secret,table,command,page,button'],
  ['tide1', 'preference'],
  ['tide0', ''],
] as const

for (const [name, parts] of CREATED) {
  test(`what npm create writes passes its test at once, with ${parts || 'no'} parts`, async () => {
    const creator = [
      'exec',
      '--yes',
      `--package=${tarball('create-archivolt-plugin')}`,
      '--',
      'create-archivolt-plugin',
    ]

    await run('npm', [...creator, name, `--parts=${parts}`], folder)
    const { stdout } = await run('npm', ['test'], join(folder, `archivolt-plugin-${name}`))

    assert.match(stdout, /# fail 0/)
    assert.doesNotMatch(stdout, /# pass 0/)
  })
}

test('a failing listener fails the test that npm create has written, with its stack', async () => {
  const project = join(folder, 'archivolt-plugin-tide9')
  const path = join(project, 'plugin.ts')
  const text = await readFile(path, 'utf8')
  await writeFile(
    path,
    text.replace("'a video has come')", "'a video has come')\n        if (video) throw new Error('no fog')"),
  )

  await assert.rejects(run('npm', ['test'], project), ({ stdout }) =>
    [/tide9: failed, and will be tried again in 30 s: Error: no fog\n.*plugin\.ts:\d+/, /# fail 1\n/].every((part) =>
      part.test(stdout),
    ),
  )
})

test('npm start runs a server with the plugin, without anything else of this project', async (t) => {
  const project = join(folder, 'archivolt-plugin-tide9')
  const server = spawn('npm', ['start'], {
    ...{ cwd: project, detached: true, stdio: ['ignore', 'pipe', 'inherit'] },
    env: { ...env, AV_PORT: '0', AV_USERNAME: 'ann', AV_PASSWORD: 'a long password' },
  })
  t.after(() => process.kill(-server.pid!))
  const url = await new Promise<string>((resolve, reject) => {
    let said = ''
    server.stdout!.on('data', (chunk: Buffer) => {
      said += chunk.toString()
      const [, address] = /listens on (http:\/\/127\.0\.0\.1:\d+\/)/.exec(said) ?? []
      if (address) resolve(address)
    })
    server.on('close', () => reject(new Error(said)))
  })

  assert.equal((await fetch(`${url}api/tide9/`)).status, 401)
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ username: 'ann', password: 'a long password' })
  const signedIn = await fetch(`${url}login/`, { method: 'POST', headers, body })
  const cookie = signedIn.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ')
  assert.deepEqual(await (await fetch(`${url}api/tide9/`, { headers: { cookie } })).json(), { greeting: 'Hello' })
})

/** Written with only the package and plugins/guide.md: a table, a filter, a command, a button. */
const LABELS = {
  'plugin.ts': `/** Labels: words that accounts put on videos, a filter of the list by them, a command, and a button of the player. */
import { type AppOf, definePlugin, defineRoute, errors, Type } from '@archivolt/plugin'

type App = AppOf<'label' | 'video' | 'user'>

const LABEL = '^[a-z]{1,30}$'
const Label = Type.Object({ label: Type.String({ pattern: LABEL }) })

const put = defineRoute({
  method: 'PUT', path: '/api/label/:videoId/', access: 'user', summary: 'Put a label on a video',
  params: Type.Object({ videoId: Type.String() }), body: Label, reply: Label,
  async handle({ params: { videoId }, body, actor }, { ledger, videos, touch }: App) {
    if (!(await videos.get(videoId))) throw errors.notFound('video', videoId)
    await ledger.write(() =>
      ledger.sql('INSERT INTO label_put (user_id, video_id, label) VALUES (?, ?, ?) ON CONFLICT DO NOTHING').run(actor.id, videoId, body.label),
    )
    touch()
    return body
  },
})

export default definePlugin({
  name: 'label', api: 1, needs: ['video', 'user'],
  migrations: [
    { number: 1, sql: 'CREATE TABLE label_put (user_id INTEGER, video_id TEXT, label TEXT, UNIQUE (user_id, video_id, label)) STRICT' },
  ],
  routes: [put],
  implements: {
    'video.filter': ({ ledger }: App) => ({
      query: { label: Type.Optional(Type.String({ maxLength: 30, description: 'videos with this label' })) },
      apply({ label }, actor) {
        if (typeof label !== 'string' || label === '') return undefined
        const rows = ledger.sql<{ video_id: string }>('SELECT video_id FROM label_put WHERE user_id = ? AND label = ?').all(actor.id, label)
        return { filter: { in: ['platform_id', rows.map(({ video_id }) => video_id)] } }
      },
    }),
  },
  commands: [
    {
      name: 'label list', summary: 'Which labels there are',
      async run({ say }, { ledger }: App) {
        for (const { label, count } of ledger.sql<{ label: string; count: number }>('SELECT label, count(*) count FROM label_put GROUP BY label ORDER BY label').all())
          say(\`\${label}: \${count}\`)
      },
    },
  ],
  playerButton: { title: 'Label: again', module: new URL('./button.ts', import.meta.url) },
  on: {
    'video.removed': ({ ledger }) => ({ id }) => ledger.write(() => void ledger.sql('DELETE FROM label_put WHERE video_id = ?').run(id)),
    'user.removed': ({ ledger }) => ({ id }) => ledger.write(() => void ledger.sql('DELETE FROM label_put WHERE user_id = ?').run(id)),
  },
})
`,
  'button.ts': `import type { Press } from '@archivolt/plugin/page'

const press: Press = async ({ api, playing, say }) => {
  await api.put(\`/api/label/\${playing.videoId}/\`, { label: 'again' })
  say('Labelled')
}
export default press
`,
  'plugin.test.ts': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aVideo, testApp } from '@archivolt/plugin/testing'
import label from './plugin.ts'

test('the list of videos is filtered by label, separately for each account; labels are removed with their video', async (t) => {
  const app = await testApp(t, { plugins: [label] })
  await app.download(aVideo({ id: 'v1', title: 'Fog' }))
  await app.download(aVideo({ id: 'v2', title: 'Nets' }))
  const titles = async (who: string) =>
    (await app.as(who).get('/api/video/?label=again')).body.data.map(({ title }: { title: string }) => title)

  await app.as('user').put('/api/label/v1/', { label: 'again' })

  assert.deepEqual(await titles('user'), ['Fog'])
  assert.deepEqual(await titles('admin'), [])
  assert.equal((await app.as('user').put('/api/label/v1/', { label: 'Not so' })).status, 400)
  assert.equal((await app.as('user').put('/api/label/none/', { label: 'again' })).status, 404)
  assert.deepEqual(await app.command('label list'), { code: 0, said: ['again: 1'] })
  await app.as('admin').delete('/api/video/v1/')
  await app.settled()
  assert.deepEqual(await titles('user'), [])
  assert.deepEqual(await app.command('label list'), { code: 0, said: [] })
  const { body } = await app.as('user').get('/api/plugin/page/')
  assert.deepEqual(body, [{ plugin: 'label', place: 'player', title: 'Label: again', asks: ['PUT /api/label/:videoId/'] }])
})
`,
  'tsconfig.json': TSCONFIG,
}

test('a plugin written from the documents alone works: a table, a filter of the list, a command, a player button', async () => {
  const project = await aProject('labels', LABELS)

  await tsc(project)
  const { stdout } = await run(process.execPath, ['--import', 'tsx', '--test', 'plugin.test.ts'], project)

  assert.match(stdout, /# pass 1\n# fail 0/)
})

/** Complete plugins: one notifies a Jellyfin of films, one keeps the latest videos of each channel. */
for (const name of ['jellyfin', 'latest']) {
  test(`${name}, written in an empty folder from the documents alone, passes its tests`, async () => {
    const project = await aProject(name, { 'tsconfig.json': TSCONFIG })
    await cp(join(ROOT, 'test/data/authors', name), project, { recursive: true })

    await tsc(project)
    const { stdout } = await run(process.execPath, ['--import', 'tsx', '--test', 'tests.ts'], project)

    assert.match(stdout, /# fail 0/)
    assert.doesNotMatch(stdout, /# pass 0/)
  })
}

test('the recipes in the package find their types', async () => {
  const project = await aProject('recipes', { 'tsconfig.json': TSCONFIG.replace('*.ts', '*/*.ts') })
  await cp(join(folder, 'node_modules/@archivolt/plugin/recipes'), project, { recursive: true })

  await tsc(project)
})
