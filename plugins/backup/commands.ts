/** The commands `archivolt backup` and `archivolt restore`, which do the same as the page, without signing in. */
import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { type CommandInput, defineCommand, errors, inEnglish, isoTime } from 'archivolt'
import type { App } from './app.ts'
import { FILE_NAME } from './backup-folder.ts'
import type { CollectionChanges } from './restoring.ts'
import type { Comparison } from './whole/compare.ts'
import type { WholePreview } from './whole/wholes.ts'
import type { Work } from './work.ts'

export const backup = defineCommand({
  name: 'backup',
  summary: 'Write all documents to a zip in backups/ (stop the server first; while it runs, use the page)',
  options: {
    all: { type: 'boolean', meaning: 'everything: also accounts, settings, pictures and history' },
    passphrase: { type: 'boolean', meaning: 'with --all: ask for a passphrase, which encrypts the backup' },
  },
  async run(input, app: App) {
    if (input.options.all === true) return backUpAll(input, app)
    const { filename, doubt } = await app.backups.create('manual', false, workOf(input))
    if (doubt !== undefined)
      throw errors.conflict(`${inEnglish(doubt)}: this backup is called ${filename}, and replaced no other`)
    say(input, app, filename)
  },
})

export const restore = defineCommand({
  name: 'restore',
  summary: 'Restore all documents, or everything, from a backup (stop the server first)',
  takes: ['file'],
  options: {
    yes: { type: 'boolean', meaning: 'apply the changes (without it: preview only)' },
    'no-pictures': { type: 'boolean', meaning: 'leave out the pictures of a backup of everything' },
  },
  makesArchive: true,
  async run(input, app: App) {
    if (WHOLE.test(input.taken[0]!)) return restoreAll(input, app)
    const filename = await takenIn(input.taken[0]!, app)
    const work = workOf(input)
    const changes = await app.backups.preview(filename, work.signal)
    for (const [collection, counts] of Object.entries(changes)) sayChanges(collection, counts, input.say)
    if (input.options.yes !== true)
      return input.say(`Nothing was changed. To apply the changes: archivolt restore ${filename} --yes`)
    const { restored, skipped, unknownSettings } = await app.backups.restore(filename, work)
    const left = unknownSettings.length ? `; settings not applied: ${unknownSettings.join(', ')}` : ''
    input.say(`${filename} restored: ${restored} documents, ${skipped} skipped${left}`)
  },
})

export const compare = defineCommand({
  name: 'compare',
  summary:
    'Compare the archive with a backup of everything, and list what is in only one of them (stop the server first)',
  takes: ['file'],
  options: { json: { type: 'boolean', meaning: 'print the result as JSON, for programs' } },
  async run(input, app: App) {
    const { path, passphrase } = await wholeOf(input, app)
    const found = await app.wholeBackups.compare(path, passphrase, workOf(input).signal)
    if (input.options.json === true) input.say(JSON.stringify(found))
    else sayComparison(found, input.say)
    if (found.wrong.length > 0) throw errors.conflict(`It differs from the backup: ${found.wrong.join(', ')}`)
  },
})

const WHOLE = /\.tar(\.age)?$/

async function backUpAll(input: CommandInput, app: App): Promise<void> {
  const passphrase = input.options.passphrase === true ? await input.secret('Passphrase of the backup') : undefined
  const { filename } = await app.wholeBackups.make(workOf(input), passphrase)
  input.say(`Everything except the video files is in ${resolve(app.settings.dataDir, 'backups', filename)}`)
}

async function restoreAll(input: CommandInput, app: App): Promise<void> {
  const { path, passphrase } = await wholeOf(input, app)
  const work = workOf(input)
  sayPreview(await app.wholeBackups.preview(path, passphrase, work.signal), input.say)
  if (input.options.yes !== true)
    return input.say(`Nothing was changed. To apply the changes: archivolt restore ${input.taken[0]} --yes`)
  const aside = await app.wholeBackups.restore(path, passphrase, input.options['no-pictures'] !== true, work)
  input.say(
    `The backup is intact and unpacked. The next start replaces the current data with it, and keeps the current data in ${aside}`,
  )
}

function sayPreview({ head, isOwn, documents, accounts, missing }: WholePreview, tell: CommandInput['say']): void {
  tell(
    `Made on ${isoTime(head.made_at)} by ${head.version}${isOwn ? '' : ', with a different secret key: on another installation, or before the key was changed'}`,
  )
  for (const [collection, counts] of Object.entries(documents)) sayChanges(collection, counts, tell)
  for (const [verb, names] of [
    ['will be added', accounts.added],
    ['will be replaced by those with the same name', accounts.replaced],
    ['will be removed', accounts.removed],
  ] as const)
    if (names.length > 0) tell(`accounts that ${verb}: ${names.join(', ')}`)
  tell(`pictures: ${head.pictures}`)
  for (const { plugin, documents: count } of missing)
    tell(
      `The plugin ${plugin} is not installed: ${count} of its documents would be skipped; add it first to restore them`,
    )
  if (!head.has_secrets)
    tell(
      'The backup is not encrypted, so it lacks the secret key and the cookie: if the key here is a different one, encrypted settings and tokens are lost',
    )
}

function sayComparison({ documents, tables, compared }: Comparison, tell: CommandInput['say']): void {
  for (const [collection, { backup, here }] of Object.entries(documents))
    tell(`${collection}: ${backup} in the backup; ${here} of them here`)
  const different = Object.entries(tables).filter(([, { backup, here }]) => backup !== here)
  for (const [table, { backup, here }] of different) tell(`table ${table}: ${backup} rows in the backup, ${here} here`)
  if (different.length === 0) tell(`All ${Object.keys(tables).length} tables have as many rows as in the backup`)
  tell(`Documents compared field by field: ${compared}`)
}

function sayChanges(
  collection: string,
  { now, added, changed, removed }: CollectionChanges,
  tell: CommandInput['say'],
) {
  if (now + added > 0)
    tell(`${collection}: ${now} now; ${added} would be added, ${changed} changed, ${removed} removed`)
}

const noBackup = (file: string) => errors.badRequest(`No backup named ${file} in backups/, and no such file`)

/** A whole backup: a file in the folder by its name, or any other file; asks for its passphrase. */
async function wholeOf({ taken, secret }: CommandInput, { settings }: App) {
  const file = taken[0]!
  const path = [join(settings.dataDir, 'backups', file), resolve(file)].find((one) => existsSync(one))
  if (path === undefined) throw noBackup(file)
  return { path, passphrase: file.endsWith('.age') ? await secret('Passphrase of the backup') : undefined }
}

const say = ({ say }: CommandInput, { settings }: App, filename: string): void =>
  say(`All documents are in ${resolve(settings.dataDir, 'backups', filename)}`)

/** A backup in the folder by its name; another file is first stored there, like an upload. */
async function takenIn(file: string, { backups, settings }: App): Promise<string> {
  const [isThere, name] = [await isStored(file, backups), basename(file)]
  if (isThere) return file
  if (!existsSync(file)) throw noBackup(file)
  if (!FILE_NAME.test(name))
    throw errors.badRequest(`Backups have names such as ${settings.prefix}_backup-20260101-manual.zip: rename ${file}`)
  // The folder already has the same file.
  if ((await isStored(name, backups)) && (await isSame(file, await backups.pathOf(name)))) return name
  return (await backups.takeIn(name, createReadStream(file))).filename
}

const isStored = async (name: string, { list }: App['backups']): Promise<boolean> =>
  (await list()).some(({ filename }) => filename === name)

async function isSame(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([one, other].map(hashOf))
  return first === second
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** Progress is only for the page; the command line shows the lines at the end. */
const workOf = ({ log }: CommandInput): Work => ({
  id: 'command',
  signal: new AbortController().signal,
  log,
  progress: () => undefined,
})
