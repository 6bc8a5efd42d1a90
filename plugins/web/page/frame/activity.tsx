/**
 * The activity pill: a ring with the progress of running tasks, and a dot when something needs attention. It opens a
 * list with stop buttons.
 */
import { Activity as Pulse, Square } from 'lucide'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { AskAnswers, askIn } from '../parts/ask-answers.tsx'
import { IconButton } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { stopReasonOf } from '../parts/stop-reason.ts'
import { get, post } from '../server/api.ts'
import { under } from '../server/base.ts'
import { listen, notifications } from '../server/events.ts'
import type { Notification, PlatformState, Session } from '../server/records.ts'
import { coalesce } from '../stores/coalesce.ts'
import { CLASSES } from '../stores/failures.ts'
import { beginReading, platformState } from '../stores/platform.ts'
import { attention, isAdmin, readAttention } from '../stores/session.ts'
import { toAge, toPercent } from '../texts/format.ts'
import { moreTexts, t, textOf } from '../texts/lookup.ts'

/** States in which an update of yt-dlp has failed and is still due. */
const OUTDATED: ReadonlySet<string> = new Set(['old', 'refused'])
/** The pages that notifications are about, by group. */
const PAGES: Record<string, string> = { 'history:lost': '/?lost=any&sort=lost', 'history:rescue': '/' }
const LATER_MS = 1500
const RADIUS = 9
const ROUND = 2 * Math.PI * RADIUS

export function Activity() {
  const [isOpen, setOpen] = useState(false)
  const list = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const id = useId()
  usePlatform(isOpen)
  const stopReason = platformState.value && stopReasonOf(platformState.value)
  const running = notifications.value
  const known = running.filter(({ progress }) => progress > 0)
  const progress = known.length === 0 ? 0 : known.reduce((sum, one) => sum + one.progress, 0) / known.length
  useAttention(isOpen)
  const troubles = [...(platformState.value ? troublesOf(platformState.value) : []), ...troublesOfOwn()]
  const needsUser =
    running.some(({ level, group }) => level === 'error' || askIn(group) !== undefined) ||
    stopReason !== undefined ||
    troubles.some((one) => one.isUrgent)
  // Ended tasks stay listed for some seconds, so running ones take precedence.
  const text =
    stopReason?.title ?? running.findLast((one) => one.progress < 1)?.messages.at(-1) ?? running[0]?.title ?? ''
  const label =
    stopReason?.title ??
    (needsUser
      ? t('activity.attention')
      : running.length > 0
        ? t('activity.running', { count: running.length })
        : t('activity.idle'))

  useLayoutEffect(() => {
    if (!isOpen) return
    const box = list.current!
    box.showPopover()
    const { bottom } = button.current!.getBoundingClientRect()
    box.style.top = `${bottom + 8}px`
  }, [isOpen])

  return (
    <>
      <button
        ref={button}
        type="button"
        class="pill"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        aria-label={`${t('activity.label')}: ${[...new Set([label, text])].filter(Boolean).join('. ')}`}
        title={label}
        onClick={() => setOpen(!isOpen)}
      >
        {running.length === 0 ? (
          <Icon node={Pulse} />
        ) : (
          <svg
            class={progress > 0 ? 'ring' : 'ring unknown'}
            width="22"
            height="22"
            viewBox="0 0 22 22"
            aria-hidden="true"
          >
            <circle cx="11" cy="11" r={RADIUS} class="ring-track" />
            <circle
              cx="11"
              cy="11"
              r={RADIUS}
              class="ring-done"
              style={{ strokeDasharray: `${Math.max(0.05, progress || 0.25) * ROUND} ${ROUND}` }}
            />
          </svg>
        )}
        <span class="pill-text">{text}</span>
        {needsUser && <span class="dot" />}
      </button>
      {isOpen && (
        <div
          ref={list}
          id={id}
          class="activity"
          popover="auto"
          role="dialog"
          aria-label={t('activity.label')}
          onToggle={(event) => event.newState === 'closed' && setOpen(false)}
        >
          {stopReason && (
            <p class="notice">
              {stopReason.title}. {stopReason.text} <a href={under('/downloads/')}>{t('activity.show')}</a>
            </p>
          )}
          {troubles.map(({ key, text, to, link }) => (
            <p class="notice" key={key}>
              {text} <a href={under(to)}>{link}</a>
            </p>
          ))}
          {running.length === 0 && <p class="hint">{t('activity.idle')}</p>}
          <ul>
            {running.map((one) => (
              <Running key={one.id} one={one} />
            ))}
          </ul>
        </div>
      )}
    </>
  )
}

interface Trouble {
  key: string
  text: string
  /** The page where the problem can be solved. */
  to: string
  link: string
  /** Whether the problem stays until somebody acts. */
  isUrgent?: true
}

/** Problems that last until somebody acts; each is listed while it exists. */
function troublesOf({ health, waiting }: PlatformState): Trouble[] {
  const troubles: Trouble[] = []
  if (health.cookie.state === 'invalid')
    troubles.push({
      key: 'cookie',
      text: t('activity.cookie'),
      to: '/settings/cookie/',
      link: t('activity.toCookie'),
      isUrgent: true,
    })
  if (OUTDATED.has(health.downloader.state))
    troubles.push({
      key: 'yt-dlp',
      text: t('activity.ytdlp'),
      to: '/settings/health/',
      link: t('activity.toHealth'),
      isUrgent: true,
    })
  const failed = CLASSES.reduce((sum, kind) => sum + (waiting[kind] ?? 0), 0)
  if (failed > 0)
    troubles.push({
      key: 'failed',
      text: t('activity.failed', { count: failed }),
      to: '/downloads/?show=failed',
      link: t('activity.show'),
    })
  return troubles
}

/** Problems of the account, as sent with the session. */
function troublesOfOwn(): Trouble[] {
  const { access_tokens: tokens = [], failed_tasks: tasks = [], sign_ins: signIns = [] } = attention.value ?? {}
  return [...signIns.map(ofSignIn), ...tokens.map(ofToken), ...tasks.map(ofRun)]
}

const ofSignIn = ({ id, browser, system, address, at }: Session['attention']['sign_ins'][number]): Trouble => ({
  key: `sign-in ${id}`,
  text: t('activity.signIn', {
    name: [browser, system, address].filter(Boolean).join(', '),
    when: toAge(Date.parse(at) / 1000),
  }),
  to: '/settings/account/',
  link: t('activity.toSessions'),
  isUrgent: true,
})

function ofToken({ id, name, expires }: Session['attention']['access_tokens'][number]): Trouble {
  const endsMs = Date.parse(expires)
  return {
    key: `token ${id}`,
    text: t(endsMs <= Date.now() ? 'activity.token.ended' : 'activity.token', { name, when: toAge(endsMs / 1000) }),
    to: '/settings/account/',
    link: t('activity.toTokens'),
    isUrgent: true,
  }
}

const ofRun = (name: string): Trouble => ({
  key: `task ${name}`,
  text: t('activity.task', { task: textOf(`task.${name}`, name) }),
  to: '/settings/schedules/',
  link: t('activity.toSchedules'),
  isUrgent: true,
})

function Running({ one }: { one: Notification }) {
  const isStopping = one.command !== false
  return (
    <li class={one.level === 'error' ? 'error' : ''}>
      <div>
        <strong>{one.title}</strong>
        <p>
          {isStopping ? t('activity.stopping') : (one.messages.at(-1) ?? '')}{' '}
          {PAGES[one.group] && <a href={under(PAGES[one.group]!)}>{t('activity.show')}</a>}
        </p>
        {one.progress > 0 && (
          <progress value={one.progress} max={1} aria-label={`${one.title}: ${toPercent(one.progress)}`} />
        )}
        <AskAnswers one={one} />
      </div>
      {one.api_stop && isAdmin.value && !isStopping && (
        <IconButton
          icon={Square}
          label={t('activity.stopOf', { title: one.title })}
          onClick={() => post(`/api/task-id/${one.id}/`, { command: 'stop' })}
        />
      )}
    </li>
  )
}

/**
 * Problems are sent with the session; requested again when the list is opened, and when a scheduled task ends with a
 * different result than before.
 */
function useAttention(isOpen: boolean): void {
  useEffect(() => {
    const ask = async () => {
      // The texts of Home do not include the names of tasks.
      if (isOpen) await moreTexts()
      await readAttention()
    }
    // The previous state stays until there is a reply.
    const { soon, end } = coalesce(() => void ask().catch(() => undefined), LATER_MS)
    if (isOpen) soon(0)
    const matters = (status: string) =>
      status === 'FAILURE' || (status === 'SUCCESS' && (attention.peek()?.failed_tasks.length ?? 0) > 0)
    const told = listen('job', ({ status }) => matters(status) && soon())
    return () => (told(), end())
  }, [isOpen])
}

/**
 * Requests the state of downloads: at the start, when the list is opened, and after changes of jobs or of the queue.
 */
function usePlatform(isOpen: boolean): void {
  const mayAsk = isAdmin.value
  useEffect(() => {
    if (!mayAsk) return
    const { soon, end } = coalesce(() => {
      const isNewest = beginReading()
      const take = (state: PlatformState | undefined) => {
        // An admin may have signed out meanwhile.
        if (isNewest() && isAdmin.peek()) platformState.value = state
      }
      const asked = get<PlatformState>('/api/platform/')
      // The texts of Home do not include the reasons; they are loaded when the list is opened. A failed request is
      // ignored.
      const words = isOpen ? moreTexts().catch(() => undefined) : Promise.resolve()
      words.then(() => asked).then(take, () => take(undefined))
    }, 2000)
    // The requests of the view come first.
    soon(isOpen ? 0 : LATER_MS)
    const ends = [
      listen('job', () => soon()),
      listen('queue', (change) => !('progress' in change && change.progress) && soon()),
      end,
    ]
    return () => ends.forEach((one) => one())
  }, [mayAsk, isOpen])
}
