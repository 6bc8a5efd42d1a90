/** What runs by itself: how often in words, when next; cron only under "advanced". */
import { useId } from 'preact/hooks'
import { get, post, remove } from '../../server/api.ts'
import type { Schedule } from '../../server/records.ts'
import { useJobs } from '../../stores/jobs.ts'
import { useLoad } from '../../stores/load.ts'
import { toAge, toMoment } from '../../texts/format.ts'
import { LANGUAGE, t } from '../../texts/texts.ts'
import { type Plan, readPlan, writePlan } from './config.ts'
import { Loaded } from './loaded.tsx'
import { Advanced, Group, NumberOption, Row, TextOption, useChosen, useSaving } from './option.tsx'

const TASKS = [
  'update_subscribed',
  'download_pending',
  'check_reindex',
  'thumbnail_check',
  'run_backup',
  'version_check',
] as const
type Task = (typeof TASKS)[number]
const OFTEN = ['never', 'hours:1', 'hours:3', 'hours:6', 'hours:12', 'daily', 'weekly'] as const
/** Monday first; as cron counts them. */
const WEEKDAYS = ['1', '2', '3', '4', '5', '6', '0'] as const
const FRESH: Plan = { often: 'never', time: '08:00', weekday: '0' }
/** A Sunday. */
const SUNDAY = Date.UTC(2024, 0, 7)
const dayName = (weekday: string): string =>
  new Intl.DateTimeFormat(LANGUAGE, { weekday: 'long', timeZone: 'UTC' }).format(SUNDAY + Number(weekday) * 86_400_000)

export function SchedulesSection() {
  const schedules = useLoad<Schedule[]>('settings/schedules', (signal) => get('/api/schedule/', {}, signal))
  useJobs(TASKS, () => void schedules.reload())
  return (
    <>
      <p class="settings-lead">{t('settings.schedules.lead')}</p>
      <Loaded from={schedules} height="640px">
        {(all) =>
          TASKS.map((task) => (
            <TaskSchedule
              key={task}
              task={task}
              schedule={all.find(({ name }) => name === task)}
              reload={schedules.reload}
            />
          ))
        }
      </Loaded>
    </>
  )
}

function TaskSchedule({
  task,
  schedule,
  reload,
}: {
  task: Task
  schedule: Schedule | undefined
  reload: () => Promise<void>
}) {
  const save = async (cron: string | undefined, config?: Schedule['config']) => {
    if (cron === undefined) await remove('/api/schedule/', { query: { task_name: task } })
    else await post('/api/schedule/', { task_name: task, schedule: cron, ...(config && { config }) })
    await reload()
  }
  const next = schedule?.next_run_at
  return (
    <Group title={t(`task.${task}`)} hint={t(`task.${task}.does`)}>
      <When schedule={schedule} save={save} />
      {schedule && (
        <p class="option-line">
          {next
            ? t('settings.schedules.next', { when: toMoment(next), age: toAge(Date.parse(next) / 1000) })
            : t('settings.schedules.noNext')}
        </p>
      )}
      {task === 'check_reindex' && schedule && (
        <NumberOption
          label={t('settings.schedules.days')}
          hint={t('settings.schedules.days.hint')}
          unit={t('settings.days')}
          min={1}
          max={36_500}
          field="config.days"
          value={(schedule.config as { days?: number }).days ?? false}
          empty={false}
          onSave={(days) => save(schedule.schedule, days === false ? {} : { days })}
        />
      )}
      {task === 'run_backup' && schedule && (
        <NumberOption
          label={t('settings.schedules.rotate')}
          hint={t('settings.schedules.rotate.hint')}
          min={1}
          max={1000}
          field="config.rotate"
          value={(schedule.config as { rotate?: number }).rotate ?? false}
          empty={false}
          onSave={(rotate) => save(schedule.schedule, rotate === false ? {} : { rotate })}
        />
      )}
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
