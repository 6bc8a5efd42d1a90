/** The first visit: a few choices, a field for the first link, and what the installation lacks. */
import type { IconNode } from 'lucide'
import { Circle, CircleAlert, CircleCheck } from 'lucide'
import { useEffect, useRef, useState } from 'preact/hooks'
import { hereNow, navigate } from '../browser/router.ts'
import { AddButtons } from '../parts/add-buttons.tsx'
import { download, saveBeforeAdding } from '../parts/adding.ts'
import { askAndSubscribe } from '../parts/beginning.tsx'
import { Button } from '../parts/button.tsx'
import { Switch } from '../parts/field.tsx'
import { Form, useForm } from '../parts/form.tsx'
import { Icon, Mark } from '../parts/icon.tsx'
import { codesOf, LanguagesField } from '../parts/languages.tsx'
import { LinkField } from '../parts/link-field.tsx'
import { Box, Failed } from '../parts/states.tsx'
import { stoppingIn } from '../parts/stop-reason.ts'
import { say } from '../parts/toast.ts'
import { Failure, get, post, toFailure } from '../server/api.ts'
import { under } from '../server/base.ts'
import type { CookieStatus, FoundLibraries, PlatformState, Preferences, Schedule } from '../server/records.ts'
import { isThere } from '../stores/left-out.ts'
import { useLoad } from '../stores/load.ts'
import { isAdmin, isWelcomeDue } from '../stores/session.ts'
import { toBytes, toMoment } from '../texts/format.ts'
import { inWords, t } from '../texts/lookup.ts'
import { type Change, type OpenPreferences, preferenceWords, usePreferences } from './settings/preferences.ts'

/** Maximum number of comments for a video, if comments are wanted. */
const COMMENTS = '100'
/** Space that is low, because it holds only a few videos. */
const LOW_SPACE_BYTES = 10e9

export default function Welcome() {
  return (
    <div class="welcome">
      <header>
        <Mark size={48} />
        <h1>{t('welcome.title')}</h1>
        <p>{isAdmin.value ? t('welcome.text') : t('welcome.user')}</p>
      </header>
      {isAdmin.value && <Choices />}
      {isAdmin.value && <First />}
      {isAdmin.value && isThere('adoption') && <Have />}
      {isAdmin.value && <State />}
      <p>
        <a href={under('/')}>{t('welcome.home')}</a>
      </p>
    </div>
  )
}

/** A form with good defaults. If people leave it, it is offered again; if they decline, it is not. */
function Choices() {
  const preferences = usePreferences()
  const { state, value, failure } = preferences.now.value
  useEffect(() => void (value && (isWelcomeDue.value = !value.page.welcomed)), [value])
  if (state === 'failed') return <Failed failure={failure} onRetry={() => preferences.reload()} />
  if (!value) return <Box height="420px" radius="12px" />
  return value.page.welcomed ? null : <ChoicesForm preferences={preferences} downloads={value.downloads} />
}

function ChoicesForm({
  preferences,
  downloads,
}: {
  preferences: OpenPreferences
  downloads: Preferences['downloads']
}) {
  const [hasSubtitles, setSubtitles] = useState(true)
  const [languages, setLanguages] = useState(() => codesOf(downloads.subtitle || languageOfBrowser()))
  const [skips, setSkips] = useState(true)
  const [hasComments, setComments] = useState(downloads.comment_max !== false)
  const [downloadsFound, setDownloadsFound] = useState(true)
  const languageWords = preferenceWords('downloads.subtitle')
  const segmentWords = preferenceWords('downloads.integrate_sponsorblock')
  const wrong = hasSubtitles && languages.length === 0 && languageWords.wrong
  const form = useForm({ 'downloads.subtitle': { wrong, refused: languageWords.wrong } })
  const answer = async (change: Change) => {
    const now = await get<Preferences>('/api/config/')
    // Shown as done only after success, because the form must keep a rejected value.
    const held = now.page.welcomed
      ? now
      : await post<Preferences>('/api/config/', { ...change, page: { welcomed: true } })
    if (now.page.welcomed) say(t('welcome.answered'))
    preferences.change(() => held)
  }
  const save = async () => {
    if (wrong) throw new Failure(400, { message: wrong })
    await answer({
      downloads: {
        ...(hasSubtitles
          ? {
              subtitle: languages.join(','),
              subtitle_source: downloads.subtitle_source || 'auto',
              subtitle_index: true,
            }
          : { subtitle: false }),
        comment_max: hasComments ? downloads.comment_max || COMMENTS : false,
        integrate_sponsorblock: skips,
      },
      subscriptions: { auto_start: downloadsFound },
    })
  }
  // The shown choices apply to videos that are added below, even if nobody has confirmed them.
  const saveFirst = async () => {
    try {
      await save()
    } catch (error) {
      form.fail(error)
      const { fields, message } = toFailure(error)
      const reason = fields['downloads.subtitle'] ? languageWords.wrong : message
      throw new Failure(422, { message: t('welcome.choices.refused', { reason }) })
    }
  }
  const latest = useRef(saveFirst)
  latest.current = saveFirst
  useEffect(() => saveBeforeAdding(() => latest.current()), [])
  const wrongLanguages = wrong || form.errors['downloads.subtitle']
  return (
    <Form form={form} class="welcome-choices" onSubmit={save}>
      <h2>{t('welcome.choices')}</h2>
      <p class="hint">{t('welcome.choices.hint')}</p>
      <Switch
        label={t('welcome.subtitles')}
        hint={t('welcome.subtitles.hint')}
        isOn={hasSubtitles}
        onChange={setSubtitles}
      />
      {hasSubtitles && (
        <LanguagesField
          label={languageWords.label}
          hint={languageWords.hint}
          codes={languages}
          onChange={setLanguages}
          error={wrongLanguages || undefined}
        />
      )}
      <Switch label={segmentWords.label} hint={segmentWords.hint} isOn={skips} onChange={setSkips} />
      <Switch
        label={preferenceWords('downloads.comment_max').label}
        hint={t('welcome.comments.hint', { number: COMMENTS })}
        isOn={hasComments}
        onChange={setComments}
      />
      <Switch label={t('welcome.found')} hint={<NextScan />} isOn={downloadsFound} onChange={setDownloadsFound} />
      {form.refusal}
      <footer>
        <Button kind="quiet" isBusy={form.isBusy} onClick={() => form.run(() => answer({}), [])}>
          {t('welcome.later')}
        </Button>
        <Button kind="main" type="submit" disabled={Boolean(wrongLanguages)}>
          {t('welcome.take')}
        </Button>
      </footer>
    </Form>
  )
}

/** The time of the next automatic scan of subscriptions. */
function NextScan() {
  const { now } = useLoad<Schedule[]>('settings/schedules', (signal) => get('/api/schedule/', {}, signal))
  const next = now.value.value?.find(({ name }) => name === 'update_subscribed')?.next_run_at
  return <>{next ? t('welcome.found.next', { when: toMoment(next) }) : t('welcome.found.never')}</>
}

/** The code of the browser's language for subtitles, as the platform uses it. */
function languageOfBrowser(): string {
  const { language, script } = new Intl.Locale(navigator.language).maximize()
  return language === 'zh' ? `zh-${script}` : language
}

function First() {
  return (
    <section>
      <h2>{t('welcome.first')}</h2>
      <LinkField
        label={t('welcome.paste')}
        hint={t('welcome.paste.hint')}
        missing={t('welcome.paste.wrong')}
        isCalm
        onSend={async (understood, how) => {
          const isHere = hereNow()
          const done =
            how === 'subscribe' ? await askAndSubscribe(understood) : await download(understood, { isNow: true })
          if (done === false) return false
          if (isHere()) navigate('/') // there people can watch the download
        }}
        buttons={(state) => <AddButtons {...state} />}
      />
    </section>
  )
}

function Have() {
  const { now } = useLoad('welcome/found', (signal) => get<FoundLibraries>('/api/adoption/found/', {}, signal))
  const { found = [], complete = true } = now.value.value ?? {}
  return (
    <section>
      <h2>{t('welcome.have')}</h2>
      <p class="hint">{t('welcome.have.hint')}</p>
      {found.length > 0 && (
        <>
          <p>{t('settings.import.found')}:</p>
          <ul>
            {found.map(({ path, title, films }) => (
              <li key={path}>
                <span dir="auto">{path}</span>{' '}
                <span class="meta">
                  {title} ·{' '}
                  {t(complete ? 'settings.import.found.films' : 'settings.import.found.more', { count: films })}
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
      <p>
        <a class="button" href={under('/settings/import/')}>
          {t('welcome.have.do')}
        </a>
      </p>
    </section>
  )
}

function State() {
  const { now, reload } = useLoad('welcome', async (signal) => {
    const [platform, cookie] = await Promise.all([
      get<PlatformState>('/api/platform/', {}, signal),
      get<CookieStatus>('/api/cookie/', {}, signal),
    ])
    return { platform, cookie }
  })
  const { state, value, failure } = now.value
  return (
    <section>
      <h2>{t('welcome.state')}</h2>
      {state === 'failed' && <Failed failure={failure} onRetry={reload} />}
      {state === 'loading' && <Box height="180px" radius="8px" />}
      {value && (
        <ul class="welcome-state">
          {linesOf(value.platform, value.cookie).map(({ level, text }) => (
            <li key={text} class={level}>
              <Icon node={LEVELS[level]} />
              <span>{text}</span>
              <span class="unseen">
                {level === 'ok' ? t('welcome.ok') : level === 'bad' ? t('welcome.missing') : ''}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

type Level = 'ok' | 'bad' | 'open'
const LEVELS: Record<Level, IconNode> = { ok: CircleCheck, bad: CircleAlert, open: Circle }

function linesOf(platform: PlatformState, cookie: CookieStatus): Array<{ level: Level; text: string }> {
  const { state, missing, space } = platform
  const reason = inWords(platform.reason, platform.said)
  const lacks = (...tools: string[]): boolean => missing.some((name) => tools.includes(name))
  const sizes = { free: toBytes(space.media_free), total: toBytes(space.media_total) }
  const lines: Array<{ level: Level; text: string }> = [
    lacks('yt-dlp')
      ? { level: 'bad', text: t('welcome.tool.ytdlp.missing') }
      : { level: 'ok', text: t('welcome.tool.ytdlp') },
    lacks('ffmpeg', 'ffprobe')
      ? { level: 'bad', text: t('welcome.tool.ffmpeg.missing') }
      : { level: 'ok', text: t('welcome.tool.ffmpeg') },
    space.media_total === 0
      ? { level: 'bad', text: t('welcome.space.away') }
      : space.media_free < LOW_SPACE_BYTES
        ? { level: 'bad', text: t('welcome.space.low', sizes) }
        : { level: 'ok', text: t('welcome.space', sizes) },
  ]
  // If a tool is missing, a message about that is shown already.
  if (stoppingIn(platform).length === 0)
    lines.push(
      state === 'open'
        ? { level: 'ok', text: t('welcome.platform') }
        : { level: 'bad', text: t('welcome.platform.not', { reason: reason || state }) },
    )
  if (!cookie.cookie_enabled) lines.push({ level: 'open', text: t('welcome.cookie.none') })
  else
    lines.push(
      cookie.status ? { level: 'ok', text: t('welcome.cookie') } : { level: 'bad', text: t('welcome.cookie.invalid') },
    )
  return lines
}
