/** A process with jobs on a ledger that kills itself at a given step; for crash.test.ts. */
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { Type } from 'typebox'
import { systemClock } from '../../../core/base/clock.ts'
import { openEventBus } from '../../../core/events.ts'
import { openJobs } from '../../../core/jobs/open-jobs.ts'
import type { JobContext } from '../../../core/jobs/types.ts'
import { openLedger } from '../../../core/ledger/sqlite.ts'
import { openLog } from '../../../core/log.ts'
import { type App, defineTask } from '../../../core/plugin/define.ts'

const [folder = '', killAt = ''] = process.argv.slice(2)
const log = openLog('silent')
const events = openEventBus()
const note = (text: string) => appendFileSync(join(folder, 'done.txt'), `${text}\n`)

const steps = ['first', 'second', 'third']
const run = async ({ step }: JobContext<object>) => {
  for (const name of steps) await step(name, () => note(name))
  return 'whole'
}
const payload = Type.Object({})
const tasks = [
  defineTask({ name: 'inner', title: '', payload, lane: 'index', internal: true, unique: true, run }),
  defineTask({ name: 'resumable', title: 'Resumable', payload, lane: 'index', resumable: true, run }),
  defineTask({ name: 'once', title: 'Once', payload, lane: 'index', run }),
]
events.listen('job.step', ({ task, step, phase }) => {
  if (`${task} ${phase} ${step}` === killAt) process.kill(process.pid, 'SIGKILL')
})

const ledger = await openLedger({ file: join(folder, 'ledger.sqlite'), log, clock: systemClock })
const app = { emit: events.emit.bind(events), log } as unknown as App
const jobs = openJobs({
  ledger,
  clock: systemClock,
  log,
  tasks: new Map(tasks.map((task) => [task.name, task])),
  lanes: {},
  app: () => app,
  within: (_task, work) => work(),
  debug: false,
  writable: async () => undefined,
})
await jobs.begin()
const name = killAt.split(' ')[0] ?? ''
if (name === 'inner') await jobs.run(name)
else if (name !== '') await jobs.ended((await jobs.start(name)).id)
else
  for (const task of tasks)
    for (let job = jobs.active(task.name); job; job = jobs.active(task.name)) await jobs.ended(job.id)

const rows = ledger.sql('SELECT task, state, result FROM jobs ORDER BY seq').all()
await jobs.close()
await ledger.close()
process.stdout.write(JSON.stringify(rows))
