/** Routes for imports: scan a place, show the plan, run it, undo it (contract 9.17). */
import { stat } from 'node:fs/promises'
import { isAbsolute, join, relative } from 'node:path'
import { defineRoute, errors, Said, saidOf, say, Type } from 'archivolt'
import type { Place } from '../media/types.ts'
import { scanPlace } from './2-scan.ts'
import { adoptVideos } from './3-adopt.ts'
import { completeVideos } from './4-complete.ts'
import { undoAdoption } from './6-undo.ts'
import type { App } from './app.ts'
import { mustBeThere } from './away.ts'
import { allowed } from './catalogs/notes.ts'
import { ALONG, type AlongCount, type Setting } from './catalogs/types.ts'
import { AdoptionId } from './item-routes.ts'
import { checkAddress, isAddress } from './live-elasticsearch.ts'
import { forgetNotes } from './place-reading.ts'
import { isBusy, isUnsure, isWaiting, mapOf } from './plans/plans.ts'
import { ADOPTION_STATES, type AdoptionRow, ITEM_STATES, OUTCOMES } from './plans/rows.ts'
import { ofColumn } from './plans/stored-words.ts'
import { hasCatalog, readerOf, readersOf } from './readers.ts'
import { runOf, startWork } from './stopping.ts'

/** The only program whose server can be read. */
const LIVE = 'tubearchivist'

const Count = Type.Object({ count: Type.Integer(), size: Type.Integer({ description: 'bytes' }) })

const AdoptionRecord = Type.Object({
  id: Type.Integer(),
  place: Type.Integer(),
  source: Type.String({ description: 'the kind of library; empty until it is recognized' }),
  state: Type.Enum([...ADOPTION_STATES]),
  catalog: Type.String({ description: 'the database, list or backup of the other program that was read; empty: none' }),
  map: Type.Optional(
    Type.Object(
      {
        from: Type.String({ description: 'a path as the other program stores it' }),
        to: Type.String({ description: 'the corresponding folder on this server' }),
        share: Type.Number({ description: 'share of a sample of its files that was found there, 0 to 1' }),
        sure: Type.Boolean({ description: 'false: a person has to confirm the mapping before the import' }),
      },
      { description: 'how paths in the catalog are mapped to paths on this server; only if there is a catalog' },
    ),
  ),
  along: Type.Array(
    Type.Object({
      kind: Type.Enum([...ALONG]),
      owner: Type.String({ description: 'the user of the other program; empty: it has only one' }),
      count: Type.Integer(),
    }),
  ),
  settings: Type.Array(
    Type.Object({
      of: Type.String({ description: 'the name of a channel or playlist in the other program' }),
      kind: Type.Optional(Type.Enum(['channel', 'playlist'], { description: 'its kind on the platform, if known' })),
      id: Type.Optional(Type.String({ description: 'its id on the platform, if known' })),
      key: Type.String(),
      value: Type.String({ description: 'as the other program stores it' }),
    }),
    { description: 'settings of the other program, which the import does not apply' },
  ),
  reason: Type.String({ description: 'why the import has failed' }),
  said: Type.Optional(Said),
  task_id: Type.String(),
  created_at: Type.Integer({ description: 'epoch seconds' }),
  unchanged: Type.Integer({ description: 'number of films that are already in the archive and unchanged' }),
  outcomes: Type.Object(Object.fromEntries(OUTCOMES.map((outcome) => [outcome, Count]))),
  problems: Type.Record(Type.String(), Type.Integer()),
  containers: Type.Record(Type.String(), Type.Integer()),
  waits: Type.Optional(
    Type.Object(
      {
        reason: Type.String({ description: 'why no requests are sent to the platform now; translatable by `said`' }),
        until: Type.Integer({ description: 'epoch seconds of the next attempt; 0: unknown' }),
      },
      { description: 'while `completing`: why videos that only the platform can describe have to wait' },
    ),
  ),
  completing: Type.Boolean({ description: 'complete_videos is running or queued' }),
  states: Type.Object(Object.fromEntries(ITEM_STATES.map((state) => [state, Type.Integer()]))),
})

async function toRecord(row: AdoptionRow, app: App) {
  const outcomes = Object.fromEntries(OUTCOMES.map((outcome) => [outcome, { count: 0, size: 0 }]))
  const states = Object.fromEntries(ITEM_STATES.map((state) => [state, 0]))
  const problems: Record<string, number> = {}
  const containers: Record<string, number> = {}
  for (const { outcome, code, state, ending, count, bytes } of await app.adoptions.recentCounts(row)) {
    const sum = outcomes[outcome]
    if (!sum) continue // still being scanned
    sum.count += count
    sum.size += bytes
    if (code !== null) problems[code] = (problems[code] ?? 0) + count
    if (outcome !== 'new' && outcome !== 'ask') continue
    states[state] = (states[state] ?? 0) + count
    if (ending !== null) containers[ending] = (containers[ending] ?? 0) + count
  }
  const map = row.catalog === '' ? undefined : mapOf(row)
  const completing = row.state === 'adopted' && openOf(states) > 0 && runOf(row, app) !== undefined
  const gate = app.platform.state()
  const isHeld = completing && (states['planned'] ?? 0) > 0 && gate.state !== 'open'
  const { texts, said } = saidOf([ofColumn(row.why), isHeld ? gate.reason : ''])
  return {
    id: row.id,
    place: row.place_id,
    source: row.reader,
    catalog: row.catalog,
    map: map && { from: map.from, to: folderOf(row, map.to, app), share: map.share, sure: !isUnsure(row) },
    along: JSON.parse(row.along) as AlongCount[],
    settings: JSON.parse(row.settings) as Setting[],
    state: row.state,
    reason: texts[0]!,
    said,
    task_id: row.job_id ?? '',
    created_at: row.created_at,
    unchanged: row.unchanged,
    outcomes,
    problems,
    containers,
    completing,
    waits: isHeld ? { reason: texts[1]!, until: gate.next_attempt } : undefined,
    states,
  }
}

/** Number of videos that complete_videos still has to process. */
const openOf = (states: Record<string, number>): number => (states['in'] ?? 0) + (states['planned'] ?? 0)

/** The absolute path; relative to the place if the place was removed since. */
function folderOf({ place_id: id }: AdoptionRow, to: string, { media }: App): string {
  const place = media.places.list().find((one) => one.id === id)
  return join(place?.path ?? '', to).replace(/\/$/, '')
}

export const listAdoptions = defineRoute({
  method: 'GET',
  path: '/api/adoption/',
  access: 'admin',
  summary: 'Scans and imports, newest first, and the kinds of libraries that can be read',
  reply: Type.Object({
    sources: Type.Array(Type.Object({ name: Type.String(), title: Type.String() })),
    adoptions: Type.Array(AdoptionRecord),
  }),
  async handle(_input, app: App) {
    const adoptions: Awaited<ReturnType<typeof toRecord>>[] = []
    for (const row of app.adoptions.list()) adoptions.push(await toRecord(row, app))
    return { sources: readersOf(app).map(({ name, title }) => ({ name, title })), adoptions }
  },
})

export const findLibraries = defineRoute({
  method: 'GET',
  path: '/api/adoption/found/',
  access: 'admin',
  summary: 'Libraries of other programs below the folders that may be read, found by file names alone',
  reply: Type.Object({
    found: Type.Array(
      Type.Object({
        path: Type.String({ description: 'the folder with its films' }),
        source: Type.String(),
        title: Type.String({ description: 'of the source, for people' }),
        films: Type.Integer({ description: 'number of films that were found' }),
      }),
    ),
    complete: Type.Boolean({ description: 'false: not everything could be read within a few seconds' }),
    unread: Type.Array(Type.String({ description: 'a folder whose disk does not respond' })),
  }),
  async handle(_input, app: App) {
    const { libraries, isWhole, unread } = await app.adoptions.found.librariesBelowRoots(app)
    return { found: libraries, complete: isWhole, unread }
  },
})

export const startAdoption = defineRoute({
  method: 'POST',
  path: '/api/adoption/',
  access: 'admin',
  summary: 'Scan a folder for videos to import; nothing is changed',
  body: Type.Object({
    place: Type.Integer({ minimum: 1 }),
    source: Type.Optional(Type.String({ maxLength: 40 })),
    catalog: Type.Optional(
      Type.String({
        maxLength: 4096,
        description:
          'the database, list or backup of the other program, below the roots; or the address of TubeArchivist’s Elasticsearch',
      }),
    ),
    credentials: Type.Optional(
      Type.Object(
        { username: Type.String({ maxLength: 200 }), password: Type.String({ maxLength: 1000 }) },
        { description: 'for that address; held only in memory, until the scan has read it' },
      ),
    ),
    map: Type.Optional(
      Type.Object(
        {
          from: Type.String({ maxLength: 4096, description: 'a path as the other program stores it' }),
          to: Type.Optional(
            Type.String({
              maxLength: 4096,
              description: 'the corresponding folder on this server, within the place; default: the place itself',
            }),
          ),
        },
        { description: 'how paths of the other program are mapped to paths on this server; default: detected' },
      ),
    ),
  }),
  reply: AdoptionRecord,
  errors: ['bad_request', 'not_found', 'conflict', 'unprocessable', 'unavailable'],
  async handle({ body: { place: placeId, source, catalog = '', credentials, map } }, app: App) {
    const place = app.media.places.get(placeId)
    if (source !== undefined) readerOf(source, app)
    const isLive = isAddress(catalog)
    if (isLive) checkLive(catalog, source)
    else if (catalog !== '') await checkCatalog(catalog, source, app)
    const said = map && { from: map.from, to: folderIn(place, map.to ?? place.path) }
    await mustBeThere({ place_id: placeId }, app)
    const id = await app.adoptions.beginning.exclusive(String(placeId), async () => {
      const busy = app.adoptions.list().find((one) => one.place_id === placeId && (isBusy(one) || isWaiting(one)))
      if (busy)
        throw errors.conflict(
          say`“${{ label: place.label }}” is already being imported (${{ id: busy.id }}): wait until the import has ended`,
        )
      await app.adoptions.removeOld()
      await app.adoptions.removeUnused(placeId)
      await forgetNotes(app)
      return app.adoptions.create(placeId, isLive ? LIVE : (source ?? ''), catalog, { map: said })
    })
    app.adoptions.credentials.remember(id, credentials, (one) => app.adoptions.find(one)?.state === 'scanning')
    await startWork(id, scanPlace.name, app)
    return toRecord(app.adoptions.get(id), app)
  },
})

/** @throws unprocessable: the text is not a URL, or the URL of another program */
function checkLive(address: string, source: string | undefined): void {
  if (source !== undefined && source !== LIVE)
    throw errors.unprocessable(say`${{ source }} is not read from a server: "catalog" must be a file`)
  checkAddress(address)
}

/** The path relative to the place. @throws unprocessable: it is outside the place */
function folderIn({ path, label }: Pick<Place, 'path' | 'label'>, folder: string): string {
  const within = relative(path, folder)
  if (!isAbsolute(folder) || folder.includes('\0') || within.split('/')[0] === '..')
    throw errors.unprocessable(say`${{ folder }} is not a folder in “${{ label }}” (${{ path }})`)
  return within
}

/** @throws unprocessable: not a file, or not permitted */
async function checkCatalog(path: string, source: string | undefined, { media }: App): Promise<void> {
  if (source !== undefined && !hasCatalog(source))
    throw errors.unprocessable(say`${{ source }} has no database: leave out "catalog" or "source"`)
  const roots = await media.places.realRoots()
  const isThere = isAbsolute(path) && (await stat(path).catch(() => undefined))?.isFile()
  if (!isThere || !allowed(roots)(path))
    throw errors.unprocessable(
      say`There is no file ${{ path }} in the folders that the server may read (AV_LIBRARY_ROOTS): ${{ roots: roots.join(', ') }}`,
    )
}

export const showAdoption = defineRoute({
  method: 'GET',
  path: '/api/adoption/:adoptionId/',
  access: 'admin',
  summary: 'The counts of a plan, and its progress',
  params: AdoptionId,
  reply: AdoptionRecord,
  errors: ['not_found'],
  handle: ({ params }, app: App) => toRecord(app.adoptions.get(Number(params.adoptionId)), app),
})

/** The states in which each command is allowed. */
const COMMANDS = {
  adopt: { from: ['planned', 'failed', 'adopted'], state: 'adopting', task: adoptVideos },
  undo: { from: ['adopted', 'failed', 'undone'], state: 'undoing', task: undoAdoption },
} as const

export const commandAdoption = defineRoute({
  method: 'POST',
  path: '/api/adoption/:adoptionId/',
  access: 'admin',
  summary: 'Run a plan or undo it, or complete or stop its import',
  params: AdoptionId,
  body: Type.Object({
    command: Type.Enum(['adopt', 'undo', 'complete', 'ask', 'stop'], {
      description:
        'complete: continues what was stopped; ask: asks the platform again about skipped videos; stop: stops the running task',
    }),
    along: Type.Optional(
      Type.Object({
        kinds: Type.Array(Type.Enum([...ALONG]), { maxItems: ALONG.length, uniqueItems: true }),
        users: Type.Optional(
          Type.Record(Type.String(), Type.String(), {
            description: 'names of accounts, by the user of the other program whose marks and positions they get',
          }),
        ),
        gone: Type.Optional(
          Type.Enum(['queue', 'ignore'], {
            description:
              'what to do with videos that the other program lists but whose files are missing; default: nothing',
          }),
        ),
      }),
    ),
  }),
  reply: AdoptionRecord,
  errors: ['bad_request', 'not_found', 'conflict', 'unprocessable', 'unavailable'],
  async handle({ params, body: { command, along }, actor }, app: App) {
    const adoption = app.adoptions.get(Number(params.adoptionId))
    if (command === 'stop') await stop(adoption, app)
    if (command === 'ask' && (await app.adoptions.items.askAgain(adoption.id)) === 0)
      throw errors.conflict('All videos have been identified: there is nothing to ask')
    if (command === 'complete' || command === 'ask') await complete(adoption, app)
    if (command === 'stop' || command === 'complete' || command === 'ask')
      return toRecord(app.adoptions.get(adoption.id), app)
    const { from, state, task } = COMMANDS[command]
    if (!from.some((one) => one === adoption.state))
      throw errors.conflict(say`The import is ${{ state: adoption.state }}: ${{ command }} is not possible now`)
    if (command === 'adopt') {
      await mustBeThere(adoption, app)
      if (!app.adoptions.items.found(adoption.id, 1).next().done)
        throw errors.conflict('The scan of this import did not finish: start a new scan of the folder')
      if (isUnsure(adoption))
        throw errors.conflict(
          say`Most files in ${{ catalog: adoption.catalog }} are not in this folder: scan again with the path that it uses for this folder (map), or without it (source yt-dlp)`,
        )
    }
    if (along) {
      const { kinds, users = {}, gone } = along
      await app.adoptions.setChoice(adoption.id, {
        kinds,
        users: usersOf(users, app),
        listsTo: actor.id,
        gone,
      })
    }
    // Otherwise the next hourly scan would import it again.
    if (command === 'undo') await app.adoptions.followed.set(adoption.place_id, false)
    await app.adoptions.setState(adoption.id, state)
    await startWork(adoption.id, task.name, app)
    return toRecord(app.adoptions.get(adoption.id), app)
  },
})

/** @throws conflict: no task is in progress, or the task cannot be stopped */
async function stop(adoption: AdoptionRow, app: App): Promise<void> {
  const job = adoption.state === 'undoing' ? undefined : runOf(adoption, app)
  if (!job) throw errors.conflict(say`The import is ${{ state: adoption.state }}: there is nothing to stop`)
  await app.jobs.command(job.id, 'STOP')
}

/** @throws conflict: nothing is left to do; unavailable: the place is offline */
async function complete(adoption: AdoptionRow, app: App): Promise<void> {
  const { states } = await toRecord(adoption, app)
  if (adoption.state !== 'adopted' || openOf(states) === 0)
    throw errors.conflict(say`The import is ${{ state: adoption.state }}: there is nothing to complete`)
  await mustBeThere(adoption, app)
  await app.jobs.start(completeVideos, { adoption: adoption.id })
}

/** @throws unprocessable: the account does not exist */
function usersOf(names: Record<string, string>, { accounts }: App): Record<string, number> {
  const ids = new Map(accounts.list().map(({ id, username }) => [username, id]))
  return Object.fromEntries(
    Object.entries(names).map(([owner, name]) => {
      const id = ids.get(name)
      if (id === undefined) throw errors.unprocessable(say`There is no account “${{ name }}” for “${{ owner }}”`)
      return [owner, id]
    }),
  )
}

export const dropAdoption = defineRoute({
  method: 'DELETE',
  path: '/api/adoption/:adoptionId/',
  access: 'admin',
  summary: 'Discard a plan; imported videos stay, and the import can no longer be undone',
  params: AdoptionId,
  reply: Type.Object({ success: Type.Literal(true) }),
  errors: ['not_found', 'conflict'],
  async handle({ params }, app: App) {
    const adoption = app.adoptions.get(Number(params.adoptionId))
    if (isBusy(adoption)) throw errors.conflict('This import is still running: wait until it has ended')
    await app.adoptions.remove(adoption.id)
    await forgetNotes(app)
    return { success: true as const }
  },
})
