/** The first minutes: what is missing, in words, and a field for the first link. */
import { useEffect, useState } from 'preact/hooks'
import { CircleAlert, CircleCheck, Circle, Download, Rss } from 'lucide'
import type { IconNode } from 'lucide'
import { get, isAborted, post, toFailure } from '../api.ts'
import { under } from '../base.ts'
import { toBytes } from '../format.ts'
import { useLoad } from '../load.ts'
import { Button } from '../parts/button.tsx'
import { Field } from '../parts/field.tsx'
import { Icon, Mark } from '../parts/icon.tsx'
import { Box, Failed } from '../parts/states.tsx'
import { say, sayFailure } from '../parts/toast.tsx'
import type { PlatformState } from '../records.ts'
import { isAdmin } from '../session.ts'
import { t } from '../texts.ts'

interface Target {
  type: 'video' | 'channel' | 'playlist'
  id: string
  known: boolean
}

interface CookieState {
  cookie_enabled: boolean
  status: boolean
}

const REST_MS = 200
/** Less is a handful of films. */
const LOW_SPACE_BYTES = 10e9

export default function Welcome() {
  return (
    <div class="welcome">
      <header>
        <Mark size={48} />
        <h1>{t('welcome.title')}</h1>
        <p>{isAdmin.value ? t('welcome.text') : t('welcome.user')}</p>
      </header>
      {isAdmin.value && <First />}
      {isAdmin.value && <State />}
      <p>
        <a href={under('/')}>{t('welcome.home')}</a>
      </p>
    </div>
  )
}

function First() {
  const [text, setText] = useState('')
  const [found, setFound] = useState<Target[]>([])
  const [error, setError] = useState<string>()
  useEffect(() => {
    setError(undefined)
    if (text.trim() === '') return setFound([])
    const ending = new AbortController()
    const timer = setTimeout(
      () =>
        get<Target[]>('/api/resolve/', { q: text.slice(0, 1200) }, ending.signal).then(
          (targets) => {
            setFound(targets)
            if (targets.length === 0) setError(t('welcome.paste.wrong'))
          },
          (failure: unknown) => !isAborted(failure) && setError(toFailure(failure).message),
        ),
      REST_MS,
    )
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [text])

  const done = (said: string) => {
    say(said)
    setText('')
  }
  const download = async ({ id }: Target) => {
    await post('/api/download/', { data: [{ platform_id: id, status: 'pending' }] }, { autostart: true })
    done(t('welcome.downloading'))
  }
  const subscribe = async ({ type, id }: Target) => {
    if (type === 'channel') await post('/api/channel/', { data: [{ channel_id: id, channel_subscribed: true }] })
    else await post('/api/playlist/', { data: [{ playlist_id: id, playlist_subscribed: true }] })
    done(t('welcome.subscribing'))
  }
  return (
    <section>
      <h2>{t('welcome.first')}</h2>
      <Field label={t('welcome.paste')} value={text} onInput={setText} error={error} hint={t('welcome.paste.hint')} autocomplete="off" />
      <ul class="welcome-found" aria-live="polite">
        {found.map((target) => (
          <li key={target.id}>
            <span>
              <strong>{t(`welcome.${target.type}`)}</strong> {target.id} {target.known && <span class="meta">{t('welcome.known')}</span>}
            </span>
            <Button icon={Download} kind={target.type === 'video' ? 'main' : 'plain'} onClick={() => void download(target).catch(sayFailure)}>
              {t('welcome.download')}
            </Button>
            {target.type !== 'video' && (
              <Button icon={Rss} kind="main" onClick={() => void subscribe(target).catch(sayFailure)}>
                {t('welcome.subscribe')}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </section>
  )
}

function State() {
  const { now, reload } = useLoad('welcome', async (signal) => {
    const [platform, cookie] = await Promise.all([get<PlatformState>('/api/platform/', {}, signal), get<CookieState>('/api/cookie/', {}, signal)])
    return { platform, cookie }
  })
  const { state, value, failure } = now.value
  return (
    <section>
      <h2>{t('welcome.state')}</h2>
      {state === 'failed' && <Failed failure={failure} onRetry={() => void reload()} />}
      {state === 'loading' && <Box height="180px" radius="8px" />}
      {value && (
        <ul class="welcome-state">
          {linesOf(value.platform, value.cookie).map(({ level, text }) => (
            <li key={text} class={level}>
              <Icon node={LEVELS[level]} />
              <span>{text}</span>
              <span class="unseen">{level === 'ok' ? t('welcome.ok') : level === 'bad' ? t('welcome.missing') : ''}</span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

type Level = 'ok' | 'bad' | 'open'
const LEVELS: Record<Level, IconNode> = { ok: CircleCheck, bad: CircleAlert, open: Circle }

function linesOf({ state, reason, missing, space }: PlatformState, cookie: CookieState): Array<{ level: Level; text: string }> {
  const lacks = (tool: string): boolean => missing.some((name) => name.startsWith(tool))
  const sizes = { free: toBytes(space.media_free), total: toBytes(space.media_total) }
  const lines: Array<{ level: Level; text: string }> = [
    lacks('yt-dlp') ? { level: 'bad', text: t('welcome.tool.ytdlp.missing') } : { level: 'ok', text: t('welcome.tool.ytdlp') },
    lacks('ff') ? { level: 'bad', text: t('welcome.tool.ffmpeg.missing') } : { level: 'ok', text: t('welcome.tool.ffmpeg') },
    space.media_free < LOW_SPACE_BYTES ? { level: 'bad', text: t('welcome.space.low', sizes) } : { level: 'ok', text: t('welcome.space', sizes) },
  ]
  // A missing tool has said it already.
  if (missing.length === 0) lines.push(state === 'open' ? { level: 'ok', text: t('welcome.platform') } : { level: 'bad', text: t('welcome.platform.not', { reason: reason || state }) })
  if (!cookie.cookie_enabled) lines.push({ level: 'open', text: t('welcome.cookie.none') })
  else lines.push(cookie.status ? { level: 'ok', text: t('welcome.cookie') } : { level: 'bad', text: t('welcome.cookie.invalid') })
  return lines
}
