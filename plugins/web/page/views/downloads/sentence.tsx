/** The state of downloads and its reason in one sentence, with the action that helps. */
import type { IconNode } from 'lucide'
import { CircleAlert, CircleCheck, CirclePause, Clock, Download, Hourglass, Play, RotateCw, Square } from 'lucide'
import { Button } from '../../parts/button.tsx'
import { confirm } from '../../parts/dialog.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Box, Failed } from '../../parts/states.tsx'
import { stoppingIn, stopReasonOf } from '../../parts/stop-reason.ts'
import { say } from '../../parts/toast.ts'
import { get, post } from '../../server/api.ts'
import { under } from '../../server/base.ts'
import type { Library, Schedule } from '../../server/records.ts'
import { isSome } from '../../stores/list.ts'
import { useLoad } from '../../stores/load.ts'
import type { QueueStore } from '../../stores/queue.ts'
import { toAge, toBytes } from '../../texts/format.ts'
import { t, toCount } from '../../texts/lookup.ts'

type Tone = 'ok' | 'busy' | 'waiting' | 'trouble'
interface Said {
  tone: Tone
  icon: IconNode
  title: string
  text?: string
  actions?: Array<'start' | 'stop' | 'pause' | 'resume' | 'retry' | 'accept' | 'schedule'>
}

export function Sentence({ queue }: { queue: QueueStore }) {
  const schedule = useLoad('schedules', async (signal) => get<Schedule[]>('/api/schedule/', {}, signal))
  const platform = queue.platform.value
  if (!platform) {
    const failure = queue.platformFailure.value
    return failure ? <Failed failure={failure} onRetry={() => queue.readAll()} /> : <Box height="103px" radius="12px" />
  }
  const next = schedule.now.value.value?.find(({ name }) => name === 'download_pending')?.next_run_at
  const stopReason = stopReasonOf(platform)
  const { tone, icon, title, text, actions = [] }: Said = stopReason ?? saidOpen(queue, next ?? undefined)
  const stopping = stoppingIn(platform)
  const missing = t('downloads.missingTool', { count: stopping.length, tools: stopping.join(', ') })
  return (
    <section class={`sentence ${tone}`}>
      <Icon node={icon} size={24} />
      <div class="sentence-text" role="status">
        <h2>{title}</h2>
        {text && <p>{text}</p>}
        {stopping.length > 0 && stopReason?.title !== missing && <p class="error">{missing}</p>}
        {platform.missing.length > stopping.length && (
          <p class="error">
            {t('downloads.missingSolver')} <a href={under('/settings/health/')}>{t('settings.health')}</a>
          </p>
        )}
        {platform.space.media_total > 0 && (
          <p class="meta">
            {t('downloads.space', {
              free: toBytes(platform.space.media_free),
              total: toBytes(platform.space.media_total),
            })}
          </p>
        )}
      </div>
      <Actions which={actions} queue={queue} />
    </section>
  )
}

function saidOpen(queue: QueueStore, nextRun: string | undefined): Said {
  const run = queue.run.value
  const waiting = queue.waitingCount.value
  const active = queue.running.value.size
  const finished = queue.finished.value
  if (run && active > 0)
    return {
      tone: 'busy',
      icon: Download,
      title: t('downloads.state.running', {
        count: finished + 1,
        all: toCount(typeof waiting === 'number' ? finished + Math.max(waiting, active) : waiting),
      }),
      actions: run.command === false ? ['stop', 'pause'] : ['pause'],
    }
  if (run && isSome(waiting))
    return {
      tone: 'busy',
      icon: Download,
      title: t('downloads.state.starting', { count: waiting }),
      text: run.messages.at(-1) ?? '',
      actions: ['pause'],
    }
  if (run)
    return { tone: 'busy', icon: Download, title: t('downloads.state.finishing'), text: run.messages.at(-1) ?? '' }
  const adding = queue.adding.value.at(-1)
  if (adding) {
    const text = adding.messages.at(-1) ?? ''
    return adding.level === 'error'
      ? { tone: 'trouble', icon: CircleAlert, title: t('downloads.state.notAdded'), text }
      : { tone: 'busy', icon: Download, title: t('downloads.state.adding'), text }
  }
  if (isSome(waiting)) {
    const text = nextRun
      ? t('downloads.state.waiting.next', { when: toAge(Date.parse(nextRun) / 1000) })
      : t('downloads.state.waiting.never')
    return {
      tone: 'waiting',
      icon: Hourglass,
      title: t('downloads.state.waiting', { count: waiting }),
      text,
      actions: nextRun ? ['start'] : ['start', 'schedule'],
    }
  }
  const failed = queue.failedCount.value
  if (failed > 0)
    return { tone: 'trouble', icon: CircleAlert, title: t('downloads.state.failedOnly', { count: failed }) }
  const later = queue.laterCount.value
  if (later > 0)
    return {
      tone: 'waiting',
      icon: Clock,
      title: t('downloads.state.laterOnly', { count: later }),
      text: t('downloads.class.upcoming.text'),
    }
  return { tone: 'ok', icon: CircleCheck, title: t('downloads.state.idle'), text: t('downloads.state.idle.text') }
}

function Actions({ which, queue }: { which: NonNullable<Said['actions']>; queue: QueueStore }) {
  const act = (ask: () => Promise<unknown>, after?: string) => async () => {
    try {
      await ask()
      if (after) say(after)
    } finally {
      await queue.readPlatform()
    }
  }
  const command = (name: 'retry' | 'pause' | 'resume') => () => post('/api/platform/', { command: name })
  const made = {
    start: (
      <Button kind="main" icon={Play} onClick={act(() => post('/api/task-name/download_pending/'))}>
        {t('downloads.start')}
      </Button>
    ),
    stop: (
      <Button
        icon={Square}
        onClick={act(() => post(`/api/task-id/${queue.run.peek()?.id ?? ''}/`, { command: 'stop' }))}
      >
        {t('downloads.stop')}
      </Button>
    ),
    pause: (
      <Button icon={CirclePause} onClick={act(command('pause'))}>
        {t('downloads.pause')}
      </Button>
    ),
    resume: (
      <Button kind="main" icon={Play} onClick={act(command('resume'))}>
        {t('downloads.resume')}
      </Button>
    ),
    retry: (
      <Button kind="main" icon={RotateCw} onClick={act(command('retry'), t('downloads.trying'))}>
        {t('downloads.try')}
      </Button>
    ),
    accept: (
      <AcceptLibrary onAccept={act(() => post('/api/library/', { command: 'accept' }), t('downloads.accepted'))} />
    ),
    schedule: (
      <a class="button" href={under('/settings/schedules/')}>
        {t('downloads.schedule')}
      </a>
    ),
  }
  if (which.length === 0) return null
  return (
    <div class="sentence-actions">
      {which.map((name) => (
        <span key={name}>{made[name]}</span>
      ))}
    </div>
  )
}

/** Shown if downloads are paused because of the library. Accepting another folder needs a confirmation. */
function AcceptLibrary({ onAccept }: { onAccept: () => Promise<void> }) {
  const library = useLoad('library', (signal) => get<Library>('/api/library/', {}, signal))
  if (library.now.value.value?.state !== 'away') return null
  const ask = async () => {
    const text = (
      <>
        <p>{t('downloads.accept.goes')}</p>
        <p>{t('downloads.accept.stays')}</p>
      </>
    )
    if (await confirm({ title: t('downloads.accept.title'), text, action: t('downloads.accept'), isDangerous: true }))
      await onAccept()
  }
  return <Button onClick={ask}>{t('downloads.accept')}</Button>
}
