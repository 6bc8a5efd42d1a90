/** The second site: a copy of the archive elsewhere. restic makes, checks and restores it (contract 9.35). */
import { definePlugin, Type } from 'archivolt'
import type { App } from './app.ts'
import { judgeRepository, offsite } from './preferences.ts'
import { type Run, runRestic, versionOf } from './restic.ts'
import { restoreOffsite, showOffsite, testOffsite } from './routes.ts'
import { offsiteTables, ofRepository, openRows, type Rows, repositoryTable, translatable } from './rows.ts'
import { backUp, check, restore } from './tasks.ts'

interface Offsite {
  /** The last runs. */
  rows: Rows
  /** Runs restic, with the parameters of `runRestic`. */
  restic(args: readonly string[], run: Run): Promise<string>
  /** The version of restic; undefined: it is not installed, which is checked again at each call. */
  version(): Promise<string | undefined>
}

function openOffsite(app: App): Offsite {
  let version: string | undefined
  return {
    rows: openRows(app),
    restic: (args, run) => runRestic(app, args, run),
    version: async () => (version ??= await versionOf(app)),
  }
}

export default definePlugin({
  name: 'offsite',
  needs: ['platform', 'media', 'channel', 'video'],
  settings: {
    restic: {
      env: 'AV_RESTIC',
      schema: Type.String({ minLength: 1 }),
      default: 'restic',
      meaning: 'program for the second site, found on PATH or by its path',
    },
  },
  migrations: [offsiteTables, repositoryTable, translatable, ofRepository],
  lanes: { offsite: 1 },
  preferences: { offsite },
  services: (app) => ({ offsite: openOffsite(app) }),
  setup: (app) => app.preferences.judge('offsite', (changed) => judgeRepository(changed, app)),
  routes: [showOffsite, testOffsite, restoreOffsite],
  tasks: [backUp, check, restore],
})

declare module 'archivolt' {
  interface Settings {
    restic: string
  }
  interface Services {
    offsite: {
      offsite: Offsite
    }
  }
}
