/** Tasks: those that can be started, running ones with a stop button, and the last day's runs with their logs. */

import { OctagonX, Play, Square } from 'lucide'
import { useState } from 'preact/hooks'
import { Button, IconButton } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Box, Failed } from '../../parts/states.tsx'
import { say } from '../../parts/toast.ts'
import { get, post } from '../../server/api.ts'
import { notifications } from '../../server/events.ts'
import type { TaskKind, TaskLogLine, TaskRecord } from '../../server/records.ts'
import { isOver, useJobs } from '../../stores/jobs.ts'
import { useLoad } from '../../stores/load.ts'
import { taskText, taskTitle, useTaskKinds } from '../../stores/task-kinds.ts'
import { toAge, toMoment, toPercent, toSpan } from '../../texts/format.ts'
import { inWords, type TextKey, t } from '../../texts/lookup.ts'
import { Group } from './option.tsx'

const MOST = 50

const wordOf = (task: TaskRecord): string =>
  isOver(task)
    ? t(`task.state.${task.status}` as TextKey & 'task.state.SUCCESS')
    : task.date_start
      ? t('task.state.running')
      : t('task.state.waiting')

export function TasksSection() {
  const kinds = useTaskKinds()
  const tasks = useLoad<TaskRecord[]>('settings/tasks', (signal) => get('/api/task-name/', {}, signal))
  useJobs([], () => void tasks.reload())
  const start = async (kind: TaskKind) => {
    await post(`/api/task-name/${kind.name}/`)
    say(t('task.started', { title: taskTitle(kind) }))
    await tasks.reload()
  }
  const ended = tasks.now.value.value?.filter(isOver).slice(0, MOST)
  return (
    <>
      <Loaded from={tasks} height="60px">
        {(all) => {
          const running = all.filter((task) => !isOver(task))
          return (
            <Group title={t('task.now')}>
              {running.length === 0 ? (
                <p class="option-line">{t('activity.idle')}</p>
              ) : (
                <Rows tasks={running} kinds={kinds.now.value.value} reload={tasks.reload} />
              )}
            </Group>
          )
        }}
      </Loaded>
      <Group title={t('task.start')}>
        <Loaded from={kinds}>
          {(all) => (
            <ul class="settings-rows">
              {all
                .filter(({ api_start: mayStart }) => mayStart)
                .map((kind) => (
                  <li key={kind.name}>
                    <div class="row-words">
                      <strong>{taskTitle(kind)}</strong>
                      <p class="hint">{taskText(kind)}</p>
                    </div>
                    <Button
                      icon={Play}
                      aria-label={t('task.startOf', { title: taskTitle(kind) })}
                      onClick={() => start(kind)}
                    >
                      {t('task.go')}
                    </Button>
                  </li>
                ))}
            </ul>
          )}
        </Loaded>
      </Group>
      {ended && (
        <Group title={t('task.ended')}>
          {ended.length === 0 ? (
            <p class="option-line">{t('task.none')}</p>
          ) : (
            <Rows tasks={ended} kinds={kinds.now.value.value} reload={tasks.reload} />
          )}
        </Group>
      )}
    </>
  )
}

const Rows = ({
  tasks,
  kinds = [],
  reload,
}: {
  tasks: TaskRecord[]
  kinds: TaskKind[] | undefined
  reload: () => Promise<void>
}) => (
  <ul class="settings-rows tasks">
    {tasks.map((task) => {
      const Row = isOver(task) ? Ended : Running
      return <Row key={task.task_id} task={task} kind={kinds.find(({ name }) => name === task.name)} reload={reload} />
    })}
  </ul>
)

interface RowProps {
  task: TaskRecord
  kind: TaskKind | undefined
  reload: () => Promise<void>
}

const titleOf = ({ task: { name }, kind }: Pick<RowProps, 'task' | 'kind'>): string =>
  taskTitle(kind ?? { name, title: name })

function Running({ task, kind, reload }: RowProps) {
  const { task_id: id, date_start: begun } = task
  const title = titleOf({ task, kind })
  const mayStop = kind?.api_stop === true
  const told = notifications.value.find((one) => one.id === id)
  const words = told?.messages.at(-1)
  const command = async (what: 'stop' | 'kill') => {
    if (
      what === 'kill' &&
      !(await confirm({
        title: t('task.kill.title', { title }),
        text: <p>{t('task.kill.text')}</p>,
        action: t('action.kill'),
        isDangerous: true,
      }))
    )
      return
    await post(`/api/task-id/${id}/`, { command: what })
    await reload()
  }
  return (
    <li>
      <div class="row-words">
        <p>
          <strong>{title}</strong>{' '}
          <span class="task-state">{task.command ? t('activity.stopping') : wordOf(task)}</span>
        </p>
        {words && <p>{words}</p>}
        {told && told.progress > 0 && (
          <progress value={told.progress} max={1} aria-label={`${title}: ${toPercent(told.progress)}`} />
        )}
        {begun && (
          <p class="meta" title={toMoment(begun)}>
            {toAge(Date.parse(begun) / 1000)}
          </p>
        )}
        <Log id={id} title={title} />
      </div>
      {mayStop && !task.command && (
        <IconButton icon={Square} label={t('activity.stopOf', { title })} onClick={() => command('stop')} />
      )}
      {mayStop && task.command !== 'KILL' && (
        <IconButton icon={OctagonX} label={t('task.killOf', { title })} onClick={() => command('kill')} />
      )}
    </li>
  )
}

/** One line: the task, how it ended, its result, and when. When expanded, it also shows the log. */
function Ended({ task, kind, reload }: RowProps) {
  const { task_id: id, name, result, said, status, date_start: begun, date_done: done } = task
  const [isOpen, setOpen] = useState(false)
  const title = titleOf({ task, kind })
  const words = result && inWords(result, said)
  const isBad = status === 'FAILURE' || status === 'FAILED'
  const isHeldBack = status === 'SUCCESS' && result !== null && name === 'rescan_filesystem'
  return (
    <li class="task-ended">
      <details onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary class="unfold">
          <strong>{title}</strong>
          <span class={isBad ? 'bad' : 'task-state'}>{wordOf(task)}</span>
          <span class={isBad ? 'task-words bad' : 'task-words'}>{!isOpen && words}</span>
          {done && <span class="meta">{toAge(Date.parse(done) / 1000)}</span>}
        </summary>
        {isOpen && (
          <>
            {words && <p class={isBad ? 'bad' : ''}>{words}</p>}
            {begun && done && (
              <p class="meta">
                {toMoment(begun)} · {toSpan((Date.parse(done) - Date.parse(begun)) / 1000)}
              </p>
            )}
            <Lines id={id} title={title} isLive={false} />
          </>
        )}
      </details>
      {isHeldBack && <HeldBack reload={reload} />}
    </li>
  )
}

/** A rescan that has not removed videos whose files were not found. */
function HeldBack({ reload }: Pick<RowProps, 'reload'>) {
  const fetchMissing = async () => {
    await post('/api/library/missing/', { command: 'download' })
    await reload()
  }
  const force = async () => {
    const text = (
      <>
        <p>{t('task.force.goes')}</p>
        <p>{t('task.force.stays')}</p>
      </>
    )
    if (!(await confirm({ title: t('task.force.title'), text, action: t('task.force'), isDangerous: true }))) return
    await post('/api/library/rescan/', { force: true })
    await reload()
  }
  return (
    <div class="task-answers">
      <Button onClick={() => fetchMissing()}>{t('task.fetchMissing')}</Button>
      <Button onClick={() => force()}>{t('task.force')}</Button>
    </div>
  )
}

function Log({ id, title }: { id: string; title: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="task-log" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="unfold" aria-label={t('task.logOf', { title })}>
        {t('task.log')}
      </summary>
      {isOpen && <Lines id={id} title={title} isLive />}
    </details>
  )
}

function Lines({ id, title, isLive }: { id: string; title: string; isLive: boolean }) {
  const log = useLoad<TaskLogLine[]>(`settings/log/${id}`, (signal) => get(`/api/task-id/${id}/log/`, {}, signal))
  useJobs([], () => isLive && void log.reload())
  const { state, value, failure } = log.now.value
  if (state === 'failed') return <Failed failure={failure} onRetry={() => log.reload()} />
  if (state === 'loading') return <Box height="60px" />
  if (value.length === 0) return <p class="hint">{t('task.log.empty')}</p>
  return (
    <div class="log" role="region" aria-label={t('task.logOf', { title })} tabIndex={0}>
      {value.map(({ time, level, message }, position) => (
        <p key={position} class={level}>
          <time dateTime={time}>{toMoment(time)}</time> {message}
        </p>
      ))}
    </div>
  )
}
