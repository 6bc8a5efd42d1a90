/** The files of a new plugin, by its name and the chosen parts. */
import { readFileSync } from 'node:fs'

/** Written by `make package`: the versions with which this package was made. */
const { archivolt } = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8'))

/** The available parts with their descriptions. */
export const MEANINGS = {
  route: 'a route of the API',
  event: 'a listener to an event',
  task: 'a task that people start and schedule',
  preference: 'a setting that people change on the page',
  secret: 'a setting that nobody is shown again, such as an API key',
  table: 'a table of its own, with a route that writes to it',
  command: 'a command of archivolt',
  page: 'a page of its own',
  button: "a button in the player's menu",
}
export const PARTS = Object.keys(MEANINGS)

/** @param given  the name of its package; hyphens are replaced in names of tables and paths */
export function filesOf(given, parts) {
  const name = given.replaceAll('-', '')
  return {
    'package.json': packageFile(given),
    'tsconfig.json': TSCONFIG,
    '.gitignore': '.data/\nnode_modules/\n',
    '.github/workflows/test.yml': WORKFLOW,
    '.github/workflows/release.yml': RELEASE,
    'README.md': readme(given, name),
    'plugin.ts': plugin(name, parts),
    'plugin.test.ts': tests(name, parts),
    ...(parts.has('page') && { 'page.ts': PAGE }),
    ...(parts.has('button') && { 'button.ts': BUTTON }),
  }
}

const asJson = (value) => `${JSON.stringify(value, undefined, 2)}\n`

const packageFile = (name) =>
  asJson({
    name: `archivolt-plugin-${name}`,
    version: '0.1.0',
    description: `What ${name} does, in one line`,
    keywords: ['archivolt-plugin'],
    type: 'module',
    exports: './plugin.ts',
    // Whatever the plugin imports, its page and its button too.
    files: ['*.ts', '!*.test.ts'],
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

const RELEASE = `# A tag such as v1.0.0 publishes the package. The token of npm is a secret of the repository: NPM_TOKEN.
name: release
on:
  push:
    tags: ['v*']
jobs:
  release:
    runs-on: ubuntu-latest
    permissions: { contents: read, id-token: write }
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-node@v4
        with: { node-version: 24, registry-url: 'https://registry.npmjs.org' }
      - run: sudo apt-get update && sudo apt-get install --yes ffmpeg
      - run: npm install
      - run: npm test
      - run: npm version --no-git-tag-version --allow-same-version "\${GITHUB_REF_NAME#v}"
      - run: npm publish --access public --provenance
        env: { NODE_AUTH_TOKEN: '\${{ secrets.NPM_TOKEN }}' }
`

const readme = (given, name) => `# archivolt-plugin-${given}

A plugin for Archivolt. To use it, add it to your archive, and start the server again:

    archivolt plugin add archivolt-plugin-${given}

Its name in Archivolt is \`${name}\`: \`archivolt plugin remove ${name}\`.

\`npm test\` checks types and runs \`plugin.test.ts\` against a whole server on a temporary folder; it needs ffmpeg. \`npm start\` is a server to look at it in, which starts again after each change: http://127.0.0.1:8000/, its data in \`.data/\`.
`

function plugin(name, parts) {
  const hasPreferences = parts.has('preference') || parts.has('secret')
  const hasRoutes = parts.has('route') || parts.has('table')
  const imports = [
    ...(parts.has('command') ? ['defineCommand'] : []),
    'definePlugin',
    ...(hasRoutes ? ['defineRoute'] : []),
    ...(parts.has('task') ? ['defineTask'] : []),
    ...(hasPreferences ? ['type PreferencesOf'] : []),
    ...(hasRoutes || parts.has('task') || hasPreferences ? ['Type'] : []),
  ]
  const routes = [...(parts.has('route') ? ['greet'] : []), ...(parts.has('table') ? ['mark'] : [])]
  const title = `${name[0].toUpperCase()}${name.slice(1)}`
  const keys = [
    `name: '${name}'`,
    'api: 1',
    `title: '${title}'`,
    ...(parts.has('event') ? [`needs: ['video']`] : []),
    ...(hasPreferences ? ['preferences'] : []),
    ...(parts.has('table') ? [migrations(name)] : []),
    ...(routes.length > 0 ? [`routes: [${routes.join(', ')}]`] : []),
    ...(parts.has('task') ? ['tasks: [tidy]'] : []),
    ...(parts.has('command') ? ['commands: [hello]'] : []),
    ...(parts.has('page') ? [`page: { title: '${title}', module: new URL('./page.ts', import.meta.url) }`] : []),
    ...(parts.has('button')
      ? [`playerButton: { title: '${title}', module: new URL('./button.ts', import.meta.url) }`]
      : []),
    ...(parts.has('event') ? [EVENT] : []),
  ]
  return [
    `/** ${name}: say here what it is for. */
import { ${imports.join(', ')} } from '@archivolt/plugin'
`,
    ...(hasPreferences ? [preference(name, parts)] : []),
    ...(parts.has('route') ? [route(name, parts)] : []),
    ...(parts.has('table') ? [table(name)] : []),
    ...(parts.has('task') ? [task(name)] : []),
    ...(parts.has('command') ? [command(name)] : []),
    `export default definePlugin({\n${keys.map((key) => `  ${key},\n`).join('')}})\n`,
  ].join('\n')
}

const GREETING = `    greeting: Type.String({ title: 'Greeting', maxLength: 100, default: 'Hello' }),\n`
const KEY = `    // Sealed, and shown to nobody again; \`preferences.section(…).key\` has it.
    key: Type.String({ title: 'API key', maxLength: 200, default: '', 'x-secret': 'whole' }),\n`

const preference = (name, parts) => `/** What people set while it runs: with a title it is on the page, under Settings. */
const preferences = {
  ${name}: {
${parts.has('preference') ? GREETING : ''}${parts.has('secret') ? KEY : ''}  },
}

declare module '@archivolt/plugin' {
  interface PreferenceValues {
    ${name}: PreferencesOf<typeof preferences.${name}>
  }
}
`

const migrations = (name) => `// Never change one that was released: add number 2.
  migrations: [{ number: 1, sql: 'CREATE TABLE ${name}_mark (name TEXT PRIMARY KEY) STRICT' }]`

const table = (name) => `const mark = defineRoute({
  method: 'POST',
  path: '/api/${name}/mark/:name/',
  access: 'user',
  summary: 'Keeps a name',
  params: Type.Object({ name: Type.String({ maxLength: 100 }) }),
  reply: Type.Object({ count: Type.Integer() }),
  async handle({ params }, { ledger }) {
    await ledger.write(() => ledger.sql('INSERT OR IGNORE INTO ${name}_mark VALUES (?)').run(params.name))
    return { count: ledger.sql<{ count: number }>('SELECT count(*) AS count FROM ${name}_mark').get()!.count }
  },
})
`

const command = (name) => `/** \`archivolt ${name} hello\`, while no server runs. */
const hello = defineCommand({
  name: '${name} hello',
  summary: 'Says hello',
  async run({ say }) {
    say('Hello')
  },
})
`

const PAGE = `/** Its page, in the browser. */
import type { Start } from '@archivolt/plugin/page'

const start: Start = async ({ root, components }) => {
  root.append(components.heading('Hello'), components.text('This is the page of the plugin.'))
}
export default start
`

const BUTTON = `/** What the button in the player's menu does, in the browser. */
import type { Press } from '@archivolt/plugin/page'

const press: Press = async ({ playing, say }) => {
  say(\`This is \${playing.title}\`)
}
export default press
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
    ...(parts.has('secret') ? [SECRET_TEST(name)] : []),
    ...(parts.has('table') ? [TABLE_TEST(name)] : []),
    ...(parts.has('command') ? [COMMAND_TEST(name)] : []),
    ...(parts.has('button') ? [BUTTON_TEST] : []),
  ]
  return `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ${parts.has('event') ? 'aVideo, ' : ''}testApp } from '@archivolt/plugin/testing'
${parts.has('button') ? BUTTON_IMPORTS : ''}import plugin from './plugin.ts'

${(cases.length > 0 ? cases : [START_TEST(name)]).join('\n')}`
}

const START_TEST = (name) => `test('the server starts with it', async (t) => {
  const app = await testApp(t, { plugins: [plugin] })

  assert.ok(app.app.plugins.list().some(({ name, isOn }) => name === '${name}' && isOn))
})
`

const ROUTE_TEST = (name) => `test('it says hello to those who have signed in', async (t) => {
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

const SECRET_TEST = (name) => `test('its key is set, and shown to nobody', async (t) => {
  const app = await testApp(t, { plugins: [plugin] })

  await app.as('admin').post('/api/config/', { ${name}: { key: 'k-123' } })

  assert.equal((await app.as('admin').get('/api/config/')).body.${name}.key, '***')
  assert.equal(app.app.preferences.section('${name}').key, 'k-123')
})
`

const TABLE_TEST = (name) => `test('a name is kept once', async (t) => {
  const app = await testApp(t, { plugins: [plugin] })

  for (const one of ['fog', 'nets', 'fog']) await app.as('user').post(\`/api/${name}/mark/\${one}/\`)

  assert.deepEqual((await app.as('user').post('/api/${name}/mark/nets/')).body, { count: 2 })
})
`

const COMMAND_TEST = (name) => `test('its command says hello', async (t) => {
  const app = await testApp(t, { plugins: [plugin] })

  assert.deepEqual(await app.command('${name} hello'), { code: 0, said: ['Hello'] })
})
`

const BUTTON_IMPORTS = `import type { Player } from '@archivolt/plugin/page'
import press from './button.ts'
`

const BUTTON_TEST = `test('its button says what is playing', async () => {
  const said: string[] = []

  await press({ playing: { title: 'Fog' }, say: (text: string) => said.push(text) } as unknown as Player)

  assert.deepEqual(said, ['This is Fog'])
})
`
