/** Deletes all data of an external plugin: documents, tables, preferences, schedules and jobs. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openChecked } from '../../core/ledger/ledger-copies.ts'
import { lockFolder } from '../../core/ledger/lock.ts'
import { INITIAL } from '../../core/ledger/schedules.ts'
import type { Log } from '../../core/log.ts'
import type { Plugin, PluginCommand, WholeApp } from '../../core/plugin/define.ts'
import { runAtRest } from './at-rest.ts'

/** @throws a sentence if a server uses the archive, or the plugin is off or broken, so that its data is unknown */
export async function forgetPlugin(name: string, dataDir: string, log: Log): Promise<void> {
  if (!existsSync(join(dataDir, 'ledger.sqlite'))) return // no server has run with it
  let found: Plugin | undefined
  const command: PluginCommand = {
    name: 'plugin remove',
    summary: '',
    async run(_input, app: WholeApp) {
      found = app.registry.plugins.find((one) => one.name === name)
      if (found) await removeDocuments(found, app)
    },
  }
  await runAtRest(command, { taken: [], options: {}, say: () => undefined, secret: () => Promise.resolve(''), log })
  if (!found)
    throw new Error(
      `The plugin ${name} is switched off or broken, so its data cannot be identified: switch it on or repair it first, or remove it without --with-data`,
    )
  const lock = lockFolder(dataDir)
  try {
    removeRows(found, join(dataDir, 'ledger.sqlite'))
  } finally {
    lock.release()
  }
}

async function removeDocuments({ indexes = [] }: Plugin, { index }: WholeApp): Promise<void> {
  for (const definition of indexes) {
    const collection = index.collection(definition)
    for await (const batch of collection.scan()) await collection.remove(batch.map(({ id }) => id))
  }
}

function removeRows({ name, preferences = {}, tasks = [] }: Plugin, file: string): void {
  const db = openChecked(file)
  try {
    db.pragma('foreign_keys = OFF') // all its tables go at once
    db.transaction(() => {
      const own = `${name}_*` // no name of a plugin contains `_`
      const objects = db
        .prepare<[string], { type: string; name: string }>(
          "SELECT type, name FROM sqlite_schema WHERE name GLOB ? AND type IN ('table', 'view')",
        )
        .all(own)
      for (const { type, name: object } of objects) db.exec(`DROP ${type} "${object}"`)
      db.prepare('DELETE FROM migrations WHERE owner = ?').run(name)
      db.prepare('DELETE FROM sealed_columns WHERE table_name GLOB ?').run(own)
      // Other plugins may store values of preferences, too, such as those that apply to a part of the archive.
      const holders = db
        .prepare<[], string>(
          `SELECT t.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c
           WHERE t.type = 'table' AND c.name IN ('section', 'key') GROUP BY t.name HAVING count(*) = 2`,
        )
        .pluck()
        .all()
      for (const table of holders) {
        const value = db.prepare(`DELETE FROM "${table}" WHERE section = ? AND key = ?`)
        for (const [section, keys] of Object.entries(preferences))
          for (const key of Object.keys(keys)) value.run(section, key)
      }
      const initial = db.prepare('DELETE FROM meta WHERE key = ?')
      for (const task of tasks) initial.run(INITIAL + task.name)
      for (const task of [`${name}.hear`, ...tasks.map((one) => one.name)])
        for (const table of ['schedules', 'outgoing_urls', 'jobs'])
          db.prepare(`DELETE FROM ${table} WHERE task = ?`).run(task)
    })()
  } finally {
    db.close()
  }
}
