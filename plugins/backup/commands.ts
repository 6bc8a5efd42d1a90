/** `archivolt backup` and `archivolt restore`: the same as on the page, without signing in. */
import { createReadStream, existsSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { type CommandInput, defineCommand, errors, inEnglish } from 'archivolt'
import type { App } from './app.ts'
import type { Work } from './work.ts'

export const backup = defineCommand({
  name: 'backup',
  summary: 'Write all documents to a zip in backups/ (stop the server first; while it runs, use the page)',
  async run(input, app: App) {
    const { filename, doubt } = await app.backups.create('manual', false, workOf(input))
    if (doubt !== undefined)
      throw errors.conflict(`${inEnglish(doubt)}: this backup is called ${filename}, and replaced no other`)
    say(input, app, filename)
  },
})

export const restore = defineCommand({
  name: 'restore',
  summary: 'Replace all documents with those of a backup (stop the server first)',
  takes: ['file'],
  options: { yes: { type: 'boolean', meaning: 'apply the changes (without it: preview only)' } },
  async run(input, app: App) {
    const filename = await takenIn(input.taken[0]!, app)
    const work = workOf(input)
    const changes = await app.backups.preview(filename, work.signal)
    for (const [collection, { now, added, changed, removed }] of Object.entries(changes))
      if (now + added > 0)
        input.say(`${collection}: ${now} now; ${added} would be added, ${changed} changed, ${removed} removed`)
    if (input.options.yes !== true)
      return input.say(`Nothing was changed. To apply the changes: archivolt restore ${filename} --yes`)
    const { restored, skipped, unknownSettings } = await app.backups.restore(filename, work)
    const left = unknownSettings.length ? `; settings not applied: ${unknownSettings.join(', ')}` : ''
    input.say(`${filename} restored: ${restored} documents, ${skipped} skipped${left}`)
  },
})

const say = ({ say }: CommandInput, { settings }: App, filename: string): void =>
  say(`All documents are in ${resolve(settings.dataDir, 'backups', filename)}`)

/** A backup of the folder by its name; another file is stored there first, like an upload. */
async function takenIn(file: string, { backups }: App): Promise<string> {
  const isThere = (await backups.list()).some(({ filename }) => filename === file)
  if (isThere) return file
  if (!existsSync(file)) throw errors.badRequest(`No backup named ${file} in backups/, and no such file`)
  return (await backups.takeIn(basename(file), createReadStream(file))).filename
}

/** Progress is for the page: here the lines at the end are sufficient. */
const workOf = ({ log }: CommandInput): Work => ({
  id: 'command',
  signal: new AbortController().signal,
  log,
  progress: () => undefined,
})
