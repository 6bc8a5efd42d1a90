/** Jobs that apply keeping rules and undo runs: after an interruption, the next start completes them. */
import { defineTask, Type } from 'archivolt'
import type { App } from './app.ts'

export const applyRules = defineTask({
  name: 'apply_rules',
  title: 'Apply keeping rules',
  group: 'setting:rules',
  payload: Type.Object({}),
  lane: 'rules',
  apiStart: true,
  unique: true,
  schedule: { auto: '30 4 *', initially: { hour: '4' } },
  async run(job, app: App) {
    // A record that an earlier version has put into the bin brings back a channel's setting without its rule.
    await app.settingRules.settle()
    return (await app.ruleRuns.byItself(job)) ?? null
  },
})

export const runRules = defineTask({
  name: 'rules.run',
  title: 'Run a preview of rules',
  payload: Type.Object({ run: Type.Integer() }),
  lane: 'rules',
  unique: ({ run }) => String(run),
  internal: true,
  resumable: true,
  run: (job, app: App) => app.ruleRuns.work(job.payload.run, job),
})

export const undoRun = defineTask({
  name: 'rules.undo',
  title: 'Undo a run of rules',
  payload: Type.Object({ run: Type.Integer() }),
  lane: 'rules',
  unique: ({ run }) => String(run),
  internal: true,
  resumable: true,
  run: (job, app: App) => app.ruleRuns.workBack(job.payload.run, job),
})
