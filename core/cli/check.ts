/** `archivolt check`: checks settings, data and programs without changing anything; a server may be running. */
import { existsSync } from 'node:fs'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { readCore, readSettings, readSources } from '../../config/load-settings.ts'
import { systemClock } from '../base/clock.ts'
import { saidBy } from '../base/error.ts'
import { inEnglish } from '../base/say.ts'
import { diskSpace, whyUnwritable } from '../folder.ts'
import { openChecked } from '../ledger/ledger-copies.ts'
import { lookAtDatabase } from '../ledger/look-at-database.ts'
import { applyMigrations, type MigrationOwner, planMigrations } from '../ledger/migrate.ts'
import { openSeal } from '../ledger/seal.ts'
import { unreadableIn, wayOutOf } from '../ledger/sealed-columns.ts'
import type { Log } from '../log.ts'
import type { Finding } from '../plugin/define.ts'
import { type LoadedPlugins, registerWhole } from '../plugin/load.ts'
import { openRememberedSettings } from '../plugin/remembered-settings.ts'
import { readSecretKey } from '../secret-key.ts'
import { StartError } from '../start-error.ts'
import { findPlugins } from './find-plugins.ts'
import type { OwnCommand } from './own-command.ts'
import { buildPages } from './pages.ts'

const LEAST_FREE_BYTES = 1 << 30
const LEDGER_REMEDY = 'start the server: it will use the newest copy in ledger-copies/'

export const check: OwnCommand = {
  name: 'check',
  summary: 'Check settings, data and programs, and report problems',
  async run({ say, log }) {
    const sources = readSources()
    const core = readCore(sources)
    const loaded = await registerWhole(await findPlugins(core), core)
    const { owners } = await openRememberedSettings(core.dataDir, loaded)
    const settings = readSettings(sources, loaded.settings, owners)
    const found: Finding[] = []
    const tell = (finding: Finding) => {
      found.push(finding)
      say(`${finding.isRight ? 'ok   ' : 'WRONG'}  ${finding.what}: ${finding.said}`)
    }
    tell({ what: 'Settings', isRight: true, said: `loaded, with ${loaded.registry.plugins.length} plugins` })
    for (const { plugin, fault } of loaded.off)
      if (fault !== undefined) tell({ what: `Plugin ${plugin.name}`, isRight: false, said: `it is left out: ${fault}` })
    for (const finding of await checkData(core.dataDir)) tell(finding)
    for (const finding of await checkOutside(loaded, core.dataDir, log)) tell(finding)
    for (const { name, checks } of loaded.registry.plugins) {
      const told = checks?.({ settings, clock: systemClock, log }).catch((error: unknown) => [
        { what: `Plugin ${name}`, isRight: false, said: `the check failed: ${saidBy(error)}` },
      ])
      for (const finding of (await told) ?? []) tell(finding)
    }
    const wrong = found.filter(({ isRight }) => !isRight).length
    if (wrong > 0) throw new Error(`${wrong} of ${found.length} checks failed: see above for what to do`)
  },
}

async function checkData(dataDir: string): Promise<Finding[]> {
  if (!existsSync(dataDir))
    return [{ what: 'Data folder', isRight: true, said: `${dataDir} does not exist yet: the first start creates it` }]
  const findings = [await checkFolder(dataDir)]
  const ledger = join(dataDir, 'ledger.sqlite')
  if (existsSync(ledger)) {
    findings.push(lookAtDatabase(ledger, 'Ledger', LEDGER_REMEDY))
    if (findings.at(-1)!.isRight) findings.push(...(await checkSecrets(dataDir, ledger)))
  }
  const key = join(dataDir, 'secret.key')
  if (existsSync(key)) {
    const { mode } = await stat(key)
    const isPrivate = (mode & 0o077) === 0
    findings.push({
      what: 'Secret key',
      isRight: isPrivate,
      said: isPrivate ? 'readable by its owner only' : `readable by others: run chmod 600 ${key}`,
    })
  }
  return findings
}

async function checkFolder(dataDir: string): Promise<Finding> {
  const [{ free }, fault] = [await diskSpace(dataDir), await whyUnwritable(dataDir)]
  const room = `${(free / 2 ** 30).toFixed(1)} GB free`
  const isRight = fault === undefined && free >= LEAST_FREE_BYTES
  return {
    ...{ what: 'Data folder', isRight },
    said: fault ? `${dataDir} ${fault}` : `${dataDir}, ${room}${isRight ? '' : ': free some space'}`,
  }
}

async function checkSecrets(dataDir: string, ledger: string): Promise<Finding[]> {
  const key = (await readSecretKey(dataDir)) ?? Buffer.alloc(0) // without a key, no secret can be opened
  const db = openChecked(ledger, { readonly: true })
  try {
    const unreadable = unreadableIn(db, openSeal(key))
    if (unreadable.size === 0) return []
    return [{ what: 'Secrets', isRight: false, said: `there are ${inEnglish(wayOutOf(unreadable))}` }]
  } finally {
    db.close()
  }
}

/** Pages are bundled, and migrations are applied to a copy of the ledger that is then removed. */
async function checkOutside(loaded: LoadedPlugins, dataDir: string, log: Log): Promise<Finding[]> {
  const folder = await mkdtemp(join(tmpdir(), 'archivolt-check-'))
  try {
    const findings: Finding[] = []
    for (const plugin of loaded.registry.plugins.filter(loaded.isOutside)) {
      const said = faultOf(() => {
        buildPages([plugin])
        migrate(
          loaded.migrations.filter(({ name }) => name === plugin.name),
          { ledger: join(dataDir, 'ledger.sqlite'), copy: join(folder, 'ledger.sqlite'), log },
        )
      })
      findings.push({
        what: `Plugin ${plugin.name}`,
        isRight: said === undefined,
        said: said ?? 'its pages can be built, and its tables made',
      })
    }
    return findings
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function faultOf(work: () => void): string | undefined {
  try {
    work()
    return undefined
  } catch (error) {
    return error instanceof StartError ? error.reason : saidBy(error)
  }
}

/** On one copy for all plugins, as a start does; without an archive, on an empty ledger. */
function migrate(
  owners: readonly MigrationOwner[],
  { ledger, copy, log }: { ledger: string; copy: string; log: Log },
): void {
  if (owners.every(({ migrations }) => migrations.length === 0)) return
  if (existsSync(ledger) && !existsSync(copy)) {
    const db = openChecked(ledger, { readonly: true })
    try {
      db.prepare('VACUUM INTO ?').run(copy)
    } finally {
      db.close()
    }
  }
  const db = new Database(copy)
  try {
    applyMigrations(db, planMigrations(db, owners).steps, systemClock.now(), log)
  } finally {
    db.close()
  }
}
