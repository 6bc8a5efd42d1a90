/** The files of a new plugin, by its name and the parts that were chosen. */
import { readFileSync } from 'node:fs'

/** `make package` writes them: the versions that this was made with. */
const { archivolt } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8'))

export const PARTS = ['route', 'event', 'task', 'preference']

export const filesOf = (name, parts) => ({
  'package.json': packageFile(name),
  'tsconfig.json': TSCONFIG,
  '.gitignore': '.data/\nnode_modules/\n',
  '.github/workflows/test.yml': WORKFLOW,
  'README.md': readme(name),
  'plugin.ts': plugin(name, parts),
  'plugin.test.ts': tests(name, parts),
})

const asJson = (value) => `${JSON.stringify(value, undefined, 2)}\n`

const packageFile = (name) =>
  asJson({
    name: `archivolt-plugin-${name}`,
    version: '0.1.0',
    description: `What ${name} does, in one line`,
    keywords: ['archivolt-plugin'],
    type: 'module',
    exports: './plugin.ts',
    files: ['plugin.ts'],
    scripts: {
      start: 'AV_DATA_DIR=.data AV_PLUGINS_DIR=. archivolt start --watch',
      test: 'tsc && node --import tsx --test plugin.test.ts',
    },
    peerDependencies: { '@archivolt/plugin': `^${archivolt.plugin}` },
    // The server has it: nothing is installed for it beside a plugin.
    peerDependenciesMeta: { '@archivolt/plugin': { optional: true } },
    devDependencies: { '@archivolt/plugin': `^${archivolt.plugin}`, tsx: archivolt.tsx, typescript: archivolt.typescript },
  })

const TSCONFIG = asJson({
  compilerOptions: {
    target: 'es2022',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
  },
  include: ['*.ts'],
})

const WORKFLOW = `name: test
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: 24 }
      - run: sudo apt-get update && sudo apt-get install --yes ffmpeg
      - run: npm install
      - run: npm test
`

const readme = (name) => `# archivolt-plugin-${name}

A plugin for Archivolt. To use it, add it to your archive, and start the server again:

    archivolt plugin add archivolt-plugin-${name}

\`npm test\` checks types and runs \`plugin.test.ts\` against a whole server on a temporary folder; it needs ffmpeg. \`npm start\` is a server to look at it in, which starts again after each change: http://127.0.0.1:8000/, its data in \`.data/\`.
`

function plugin(name, parts) {
  const imports = [
    'definePlugin',
    ...(parts.has('route') ? ['defineRoute'] : []),
    ...(parts.has('task') ? ['defineTask'] : []),
    ...(parts.has('preference') ? ['type PreferencesOf'] : []),
    ...(parts.has('route') || parts.has('task') || parts.has('preference') ? ['Type'] : []),
  ]
  const keys = [
    `name: '${name}'`,
    'api: 1',
    ...(parts.has('event') ? [`needs: ['video']`] : []),
    ...(parts.has('preference') ? ['preferences'] : []),
    ...(parts.has('route') ? ['routes: [greet]'] : []),
    ...(parts.has('task') ? ['tasks: [tidy]'] : []),
    ...(parts.has('event') ? [EVENT] : []),
  ]
  return [
    `/** ${name}: say here what it is for. */
import { ${imports.join(', ')} } from '@archivolt/plugin'
`,
    ...(parts.has('preference') ? [preference(name)] : []),
    ...(parts.has('route') ? [route(name, parts)] : []),
    ...(parts.has('task') ? [task(name)] : []),
    `export default definePlugin({\n${keys.map((key) => `  ${key},\n`).join('')}})\n`,
  ].join('\n')
}

const preference = (name) => `/** What people set while it runs: with a title it is on the page, under Settings. */
const preferences = {
  ${name}: { greeting: Type.String({ title: 'Greeting', maxLength: 100, default: 'Hello' }) },
}

declare module '@archivolt/plugin' {
  interface PreferenceValues {
    ${name}: PreferencesOf<typeof preferences.${name}>
  }
}
`

const route = (name, parts) => `const greet = defineRoute({
  method: 'GET',
  path: '/api/${name}/',
  access: 'user',
  summary: 'Says hello',
  reply: Type.Object({ greeting: Type.String() }),
  handle: ${parts.has('preference') ? `(_input, { preferences }) => ({ greeting: preferences.section('${name}').greeting })` : `() => ({ greeting: 'Hello' })`},
})
`

const task = (name) => `const tidy = defineTask({
  name: '${name}.tidy',
  title: 'Tidy up',
  description: 'What it does, for those who start or schedule it.',
  payload: Type.Object({}),
  lane: 'light',
  apiStart: true,
  async run(job) {
    job.progress(1, 'Everything is tidy')
    return 'Everything is tidy'
  },
})
`

const EVENT = `on: {
    // Heard at least once: hearing it twice must do no harm.
    'video.added':
      ({ videos, log }) =>
      async ({ id }) => {
        const video = await videos.get(id)
        if (video) log.info({ id, title: video.title }, 'a video has come')
      },
  }`

function tests(name, parts) {
  const cases = [
    ...(parts.has('route') ? [ROUTE_TEST(name)] : []),
    ...(parts.has('event') ? [EVENT_TEST(name)] : []),
    ...(parts.has('task') ? [TASK_TEST(name)] : []),
  ]
  return `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ${parts.has('event') ? 'aVideo, ' : ''}testApp } from '@archivolt/plugin/testing'
import plugin from './plugin.ts'

${(cases.length > 0 ? cases : [START_TEST(name)]).join('\n')}`
}

const START_TEST = (name) => `test('the server starts with it', async (t) => {
  const app = await testApp(t, { plugins: [plugin] })

  assert.ok(app.app.plugins.list().some(({ name, isOn }) => name === '${name}' && isOn))
})
`

const ROUTE_TEST = (name) => `test('it says hello to who has signed in', async (t) => {
  const app = await testApp(t, { plugins: [plugin] })

  assert.deepEqual((await app.as('user').get('/api/${name}/')).body, { greeting: 'Hello' })
  assert.equal((await app.as('nobody').get('/api/${name}/')).status, 401)
})
`

const EVENT_TEST = (name) => `test('it hears of a new video', async (t) => {
  const app = await testApp(t, { plugins: [plugin] })

  await app.download(aVideo({ id: 'v1', title: 'Fog' }))

  assert.equal((await app.as('user').get('/api/video/v1/')).body.data.title, 'Fog')
  assert.equal(app.app.plugins.list().find(({ name }) => name === '${name}')?.lastFailure, undefined)
})
`

const TASK_TEST = (name) => `test('it tidies up', async (t) => {
  const app = await testApp(t, { plugins: [plugin] })

  await app.as('admin').post('/api/task-name/${name}.tidy/')
  await app.settled()

  assert.equal(app.app.jobs.list({ task: '${name}.tidy' })[0]?.result, 'Everything is tidy')
})
`
