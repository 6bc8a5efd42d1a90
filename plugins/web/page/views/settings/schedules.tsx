/** A table of scheduled tasks: how often they run, the next run, and the last result; cron only under "advanced". */
import { ChevronDown, ChevronUp } from 'lucide'
import { useId, useState } from 'preact/hooks'
import { IconButton } from '../../parts/button.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { get, post, remove } from '../../server/api.ts'
import { inTurn } from '../../server/in-turn.ts'
import type { Schedule, TaskKind } from '../../server/records.ts'
import { useJobs } from '../../stores/jobs.ts'
import { type Load, useLoad } from '../../stores/load.ts'
import { taskText, taskTitle, useTaskKinds } from '../../stores/task-kinds.ts'
import { toAge, toMoment } from '../../texts/format.ts'
import { inWords, t } from '../../texts/lookup.ts'
import { cronInWords, dayName } from './cron-words.ts'
import { Advanced, Row, TextOption, useChosen, useSaving } from './option.tsx'
import type { OptionSchema } from './option-schema.ts'
import { type Plan, readPlan, writePlan } from './preferences.ts'
import { SchemaOption } from './schema-option.tsx'

const OFTEN = ['never', 'hours:1', 'hours:3', 'hours:6', 'hours:12', 'daily', 'weekly'] as const
/** Cron's numbers of weekdays, beginning with Monday. */
const WEEKDAYS = ['1', '2', '3', '4', '5', '6', '0'] as const
const FRESH: Plan = { often: 'never', time: '08:00', weekday: '0' }
export function SchedulesSection() {
  const kinds = useTaskKinds()
  const schedules = useLoad<Schedule[]>('settings/schedules', (signal) => get('/api/schedule/', {}, signal))
  useJobs([], () => void schedules.reload(), { onlyEnded: true })
  return (
    <>
      <p class="settings-lead">{t('settings.schedules.lead')}</p>
      <Loaded from={kinds} height="640px">
        {(tasks) => (
          <Loaded from={schedules} height="640px">
            {(all) => (
              <table class="schedules settings-panel">
                <thead>
                  <tr>
                    <th scope="col">{t('settings.schedules.task')}</th>
                    <th scope="col">{t('settings.schedules.when')}</th>
                    <th scope="col">{t('settings.schedules.nextRun')}</th>
                    <th scope="col">{t('settings.schedules.lastRun')}</th>
                    <td />
                  </tr>
                </thead>
                {tasks
                  .filter(({ schedule }) => schedule !== null)
                  .map((task) => (
                    <TaskSchedule key={task.name} task={task} schedule={scheduleOf(task, all)} schedules={schedules} />
                  ))}
              </table>
            )}
          </Loaded>
        )}
      </Loaded>
    </>
  )
}

const scheduleOf = ({ name: wanted }: TaskKind, all: readonly Schedule[]): Schedule | undefined =>
  all.find(({ name }) => name === wanted)

interface TaskScheduleProps {
  task: TaskKind
  schedule: Schedule | undefined
  schedules: Load<Schedule[]>
}

/** A row of the table; when it is open, all settings of the schedule are below it. */
function TaskSchedule({ task, schedule, schedules }: TaskScheduleProps) {
  const id = useId()
  const save = useSave(task, schedules)
  const [isOpen, setOpen] = useState(false)
  const title = taskTitle(task)
  const next = schedule?.next_run_at
  return (
    <tbody aria-labelledby={id}>
      <tr>
        <th scope="row" id={id}>
          {title}
        </th>
        <td>
          <span class="schedules-head" aria-hidden="true">
            {t('settings.schedules.when')}
          </span>
          {schedule ? cronInWords(schedule.schedule) : t('settings.schedules.never')}
        </td>
        <td>
          <span class="schedules-head" aria-hidden="true">
            {t('settings.schedules.nextRun')}
          </span>
          {next ? <time dateTime={next}>{toMoment(next)}</time> : '–'}
        </td>
        <td>
          <span class="schedules-head" aria-hidden="true">
            {t('settings.schedules.lastRun')}
          </span>
          <LastRun schedule={schedule} />
        </td>
        <td>
          <IconButton
            icon={isOpen ? ChevronUp : ChevronDown}
            label={t('settings.schedules.change', { title })}
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          />
        </td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={5}>
            <Choices task={task} schedule={schedule} save={save} />
          </td>
        </tr>
      )}
    </tbody>
  )
}

function LastRun({ schedule }: { schedule: Schedule | undefined }) {
  const { last_status: status = null, last_ended_at: ended = null, last_run_at: begun = null } = schedule ?? {}
  if (schedule === undefined || (ended ?? begun) === null) return <>–</>
  if (status === null || ended === null) return <time dateTime={begun!}>{toMoment(begun!)}</time>
  const result = schedule.last_result
  return (
    <>
      <time dateTime={ended} title={toMoment(ended)}>
        {toAge(Date.parse(ended) / 1000)}
      </time>
      {': '}
      <span class={status === 'SUCCESS' || status === 'REVOKED' ? '' : 'bad'}>
        {t(`task.state.${status}`)}
        {result && ` · ${inWords(result, schedule.said)}`}
      </span>
    </>
  )
}

interface Save {
  /** undefined: the task is no longer scheduled. */
  plan(cron: string | undefined): Promise<unknown>
  option(key: string, value: unknown): Promise<unknown>
}

/** Saves changes of a task one after the other, because each request contains what the others may have changed. */
function useSave(task: TaskKind, { now, change }: Load<Schedule[]>): Save {
  const { name: task_name } = task
  const turns = `schedule of ${task_name}`
  const show = (...saved: Schedule[]) => change((all) => [...all.filter(({ name }) => name !== task_name), ...saved])
  const set = async (schedule: string, config?: Schedule['config']) =>
    show(await post<Schedule>('/api/schedule/', { task_name, schedule, ...(config && { config }) }))
  const end = async () => {
    await remove('/api/schedule/', { query: { task_name } })
    show()
  }
  return {
    plan: (cron) => inTurn(turns, () => (cron === undefined ? end() : set(cron))),
    option: (key, value) =>
      inTurn(turns, async () => {
        const newest = scheduleOf(task, now.peek().value ?? [])
        // Without a schedule there is nothing to change.
        return newest !== undefined && set(newest.schedule, { ...newest.config, [key]: value })
      }),
  }
}

function Choices({ task, schedule, save }: Omit<TaskScheduleProps, 'schedules'> & { save: Save }) {
  const config = (schedule?.config ?? {}) as Record<string, unknown>
  return (
    <>
      {taskText(task) && <p class="hint">{taskText(task)}</p>}
      <When schedule={schedule} save={save.plan} />
      {schedule &&
        Object.entries(task.schedule?.config.properties ?? {}).map(([key, schema]) => (
          <SchemaOption
            key={key}
            name={`task.${task.name}.${key}`}
            field={`config.${key}`}
            schema={schema as OptionSchema}
            value={config[key]}
            onSave={(value) => save.option(key, value)}
          />
        ))}
      <Advanced>
        <TextOption
          isCode
          label={t('settings.schedules.cron')}
          hint={t('settings.schedules.cron.hint')}
          placeholder="30 */6 1-5"
          value={schedule?.schedule ?? ''}
          onSave={(cron) => save.plan(cron || undefined)}
        />
      </Advanced>
    </>
  )
}

/** How often and when the task runs; each change saves a new schedule. */
function When({ schedule, save }: { schedule: Schedule | undefined; save: Save['plan'] }) {
  const id = useId()
  const saving = useSaving()
  const { shown: plan, choose } = useChosen(schedule ? readPlan(schedule.schedule) : FRESH, saving, (wanted) =>
    save(wanted.often === 'never' ? undefined : writePlan(wanted)),
  )
  const change = (part: Partial<Plan>) => {
    const wanted = { ...plan, ...part }
    if (wanted.often !== 'own' && /^\d\d:\d\d$/.test(wanted.time)) void choose(wanted)
  }
  const choices = [
    ...new Set([...(plan.often === 'own' || !OFTEN.includes(plan.often as 'never') ? [plan.often] : []), ...OFTEN]),
  ]
  const wordOf = (often: Plan['often']) => {
    if (often === 'own') return cronInWords(schedule?.schedule ?? '')
    const hours = /^hours:(\d+)$/.exec(often)?.[1]
    return hours
      ? t('settings.schedules.hours', { count: Number(hours) })
      : t(`settings.schedules.${often as 'never' | 'daily' | 'weekly'}`)
  }
  const hasTime = plan.often === 'daily' || plan.often === 'weekly'
  return (
    <Row id={id} label={t('settings.schedules.often')} saving={saving}>
      <span class="when">
        <select
          id={id}
          value={plan.often}
          onChange={({ currentTarget }) => change({ often: currentTarget.value as Plan['often'] })}
        >
          {choices.map((often) => (
            <option key={often} value={often}>
              {wordOf(often)}
            </option>
          ))}
        </select>
        {plan.often === 'weekly' && (
          <select
            aria-label={t('settings.schedules.weekday')}
            value={plan.weekday}
            onChange={({ currentTarget }) => change({ weekday: currentTarget.value })}
          >
            {WEEKDAYS.map((weekday) => (
              <option key={weekday} value={weekday}>
                {dayName(weekday)}
              </option>
            ))}
          </select>
        )}
        {hasTime && (
          <input
            type="time"
            aria-label={t('settings.schedules.time')}
            value={plan.time}
            onChange={({ currentTarget }) => change({ time: currentTarget.value })}
          />
        )}
      </span>
    </Row>
  )
}
