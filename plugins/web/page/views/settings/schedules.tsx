/** What runs by itself: how often in words, when next; cron only under "advanced". */
import { useId } from 'preact/hooks'
import { get, post, remove } from '../../server/api.ts'
import type { Schedule, TaskKind } from '../../server/records.ts'
import { useJobs } from '../../stores/jobs.ts'
import { useLoad } from '../../stores/load.ts'
import { taskText, taskTitle, useTaskKinds } from '../../stores/tasks.ts'
import { toAge, toMoment } from '../../texts/format.ts'
import { LANGUAGE, t } from '../../texts/texts.ts'
import { type Plan, readPlan, writePlan } from './config.ts'
import { Loaded } from './loaded.tsx'
import { Advanced, Group, Row, TextOption, useChosen, useSaving } from './option.tsx'
import { type OptionSchema, SchemaOption } from './schema-option.tsx'

const OFTEN = ['never', 'hours:1', 'hours:3', 'hours:6', 'hours:12', 'daily', 'weekly'] as const
/** Monday first; as cron counts them. */
const WEEKDAYS = ['1', '2', '3', '4', '5', '6', '0'] as const
const FRESH: Plan = { often: 'never', time: '08:00', weekday: '0' }
/** A Sunday. */
const SUNDAY = Date.UTC(2024, 0, 7)
const dayName = (weekday: string): string =>
  new Intl.DateTimeFormat(LANGUAGE, { weekday: 'long', timeZone: 'UTC' }).format(SUNDAY + Number(weekday) * 86_400_000)

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
            {(all) =>
              tasks
                .filter(({ schedule }) => schedule !== null)
                .map((task) => (
                  <TaskSchedule
                    key={task.name}
                    task={task}
                    schedule={all.find(({ name }) => name === task.name)}
                    reload={schedules.reload}
                  />
                ))
            }
          </Loaded>
        )}
      </Loaded>
    </>
  )
}

function TaskSchedule({
  task,
  schedule,
  reload,
}: {
  task: TaskKind
  schedule: Schedule | undefined
  reload: () => Promise<void>
}) {
  const save = async (cron: string | undefined, config?: Schedule['config']) => {
    if (cron === undefined) await remove('/api/schedule/', { query: { task_name: task.name } })
    else await post('/api/schedule/', { task_name: task.name, schedule: cron, ...(config && { config }) })
    await reload()
  }
  const next = schedule?.next_run_at
  const config = (schedule?.config ?? {}) as Record<string, unknown>
  return (
    <Group title={taskTitle(task)} hint={taskText(task)}>
      <When schedule={schedule} save={save} />
      {schedule && (
        <p class="option-line">
          {next
            ? t('settings.schedules.next', { when: toMoment(next), age: toAge(Date.parse(next) / 1000) })
            : t('settings.schedules.noNext')}
        </p>
      )}
      {schedule &&
        Object.entries(task.schedule?.config.properties ?? {}).map(([key, schema]) => (
          <SchemaOption
            key={key}
            name={`task.${task.name}.${key}`}
            field={`config.${key}`}
            schema={schema as OptionSchema}
            value={config[key]}
            onSave={(value) => save(schedule.schedule, { ...config, [key]: value })}
          />
        ))}
      <Advanced>
        <TextOption
          isCode
          label={t('settings.schedules.cron')}
          hint={t('settings.schedules.cron.hint')}
          placeholder="30 */6 1-5"
          value={schedule?.schedule ?? ''}
          onSave={(cron) => save(cron || undefined)}
        />
      </Advanced>
    </Group>
  )
}

/** How often, and at what time; each change is a schedule of its own. */
function When({
  schedule,
  save,
}: {
  schedule: Schedule | undefined
  save: (cron: string | undefined) => Promise<void>
}) {
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
    if (often === 'own') return schedule?.schedule_human ?? ''
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
