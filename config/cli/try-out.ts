/** Tries out external plugins: bundles their pages, and applies their migrations to a copy of the ledger. */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { systemClock } from '../../core/base/clock.ts'
import { saidBy } from '../../core/base/error.ts'
import { openChecked } from '../../core/ledger/ledger-copies.ts'
import { applyMigrations, type MigrationOwner, planMigrations } from '../../core/ledger/migrate.ts'
import type { Log } from '../../core/log.ts'
import type { Plugin } from '../../core/plugin/define.ts'
import type { LoadedPlugins } from '../../core/plugin/load.ts'
import { StartError } from '../../core/start-error.ts'
import { buildPages } from './pages.ts'

/** @returns for each plugin the error that would disable it at a start; undefined if there is none */
export async function tryOut(
  plugins: readonly Plugin[],
  { migrations }: Pick<LoadedPlugins, 'migrations'>,
  dataDir: string,
  log: Log,
): Promise<Map<string, string | undefined>> {
  const folder = await mkdtemp(join(tmpdir(), 'archivolt-check-'))
  const ledgers = { ledger: join(dataDir, 'ledger.sqlite'), copy: join(folder, 'ledger.sqlite') }
  try {
    return new Map(
      plugins.map((plugin) => {
        const fault = faultOf(() => {
          buildPages([plugin])
          const own = migrations.filter(({ name }) => name === plugin.name)
          migrate(own, ledgers, log)
        })
        return [plugin.name, fault]
      }),
    )
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

/** Applies them to one copy for all plugins, as a start does; without an archive, to an empty ledger. */
function migrate(
  owners: readonly MigrationOwner[],
  { ledger, copy }: { ledger: string; copy: string },
  log: Log,
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
