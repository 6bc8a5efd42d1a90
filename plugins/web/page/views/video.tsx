/** A video: the player, its details and comments; the playlist and similar videos beside it. */
import { type ReadonlySignal, type Signal, signal, useComputed, useSignal } from '@preact/signals'
import {
  ArrowLeftRight,
  Captions,
  CircleCheck,
  CircleDashed,
  Clock,
  ClockCheck,
  EllipsisVertical,
  type IconNode,
  ListPlus,
  Share2,
  VideoOff,
} from 'lucide'
import { useEffect, useRef } from 'preact/hooks'
import { useKeys } from '../browser/keys.ts'
import type { ViewProps } from '../browser/router.ts'
import { hereNow, navigate, route } from '../browser/router.ts'
import { useTitle } from '../browser/title.ts'
import { ActionButton, Button, IconButton } from '../parts/button.tsx'
import { DislikesLink } from '../parts/dislikes-link.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu } from '../parts/menu.tsx'
import { offlineAction } from '../parts/offline-action.ts'
import { platformOf } from '../parts/platform-link.ts'
import { askForPlaylist } from '../parts/playlist-dialog.tsx'
import { Portrait } from '../parts/portrait.tsx'
import { shareItems } from '../parts/share.ts'
import { Box, Empty, Failed } from '../parts/states.tsx'
import { SubscribeButton } from '../parts/subscription.tsx'
import { Timeline } from '../parts/timeline.tsx'
import { exemptAction, videoActions } from '../parts/video-actions.ts'
import { toggleLater } from '../parts/watch-later.ts'
import { toggleWatched } from '../parts/watched.ts'
import { pathInList, useFollowing } from '../player/following.ts'
import type { Machine } from '../player/machine.ts'
import { storedOptions, storeOptions } from '../player/player-options.ts'
import { FULL_FRAME, isOnStage, Stage } from '../player/stage.tsx'
import { get } from '../server/api.ts'
import { under } from '../server/base.ts'
import type { Item, Video } from '../server/records.ts'
import { type Load, useLoad } from '../stores/load.ts'
import { isDeviceKnown } from '../stores/offline-videos.ts'
import { channelHref, isAdmin } from '../stores/session.ts'
import { titledAs } from '../stores/titles.ts'
import { toAge, toClock, toCompact, toDay, toMoment } from '../texts/format.ts'
import { t } from '../texts/lookup.ts'
import { About, Files } from './video/about.tsx'
import { Similar, UpNext } from './video/aside.tsx'
import { Comments } from './video/comments.tsx'
import { ReceiptLine } from './video/receipt.tsx'
import { Transcript } from './video/transcript.tsx'

/** Matches if there is space for the side column. */
const wide = matchMedia('(min-width: 1100px)')
const isWide = signal(wide.matches)
wide.addEventListener('change', () => void (isWide.value = wide.matches))

export default function VideoView({ params }: ViewProps) {
  const id = params['videoId']!
  // This element stays mounted from one video to the next, so that fullscreen continues.
  return (
    <div class={FULL_FRAME}>
      <OneVideo key={id} id={id} />
    </div>
  )
}

function OneVideo({ id }: { id: string }) {
  const { query } = route.value
  const video = useLoad(`video/${id}`, async (signal) => (await get<Item<Video>>(`/api/video/${id}/`, {}, signal)).data)
  const machine = useSignal<Machine | undefined>(undefined)
  const isTheatre = useSignal(storedOptions.isTheatre())
  const isAutoplay = useSignal(storedOptions.isAutoplay())
  const isTranscript = useSignal(false)
  const { state, value, failure, isCached } = video.now.value
  const asked = useComputed(() => route.value.query)
  const following = useFollowing(id, value, asked)
  const titled = value && titledAs(value)
  useTitle(titled?.title)

  // The address may change while the video is open, for example by a subtitle hit or a link with a time.
  const startAt = toSeconds(query.get('t'))
  const begunAt = useRef(startAt)
  useEffect(() => {
    if (startAt === begunAt.current) return
    begunAt.current = startAt
    if (startAt !== undefined && machine.value?.isPlaying.peek()) machine.value.jump(startAt)
  }, [startAt])

  if (state === 'failed')
    return failure.status === 404 ? <Unknown /> : <Failed isWhole failure={failure} onRetry={() => video.reload()} />
  const upNext = (
    <UpNext
      id={id}
      following={following}
      isAutoplay={isAutoplay.value}
      onAutoplay={(isOn) => storeOptions({ isAutoplay: (isAutoplay.value = isOn) })}
      isFolded={!isWide.value}
    />
  )
  const isRead = isTranscript.value && machine.value && value && value.subtitles.length > 0
  return (
    <div class={isTheatre.value ? 'watch theatre' : 'watch'}>
      <div class="watch-player">
        {value && isDeviceKnown.value && (!isCached || isOnStage(id)) ? ( // the account's position may have changed since
          <Stage
            path={pathInList(id)}
            video={value}
            startAt={startAt}
            isTheatre={isTheatre.value}
            onTheatre={() => storeOptions({ isTheatre: (isTheatre.value = !isTheatre.value) })}
            next={following.next.value}
            previous={following.previous.value}
            isAutoplay={isAutoplay.value}
            onEnd={() => void ended(video)}
            onFile={() => void video.reload()}
            onMachine={(made) => void (machine.value = made)}
          />
        ) : (
          <div class="player" />
        )}
      </div>
      {isRead && <Transcript machine={machine.value!} onClose={() => void (isTranscript.value = false)} />}
      <div class="watch-text">
        {value ? <Head video={video} value={value} machine={machine} isTranscript={isTranscript} /> : <GhostHead />}
        {value && !isWide.value && <div class="up-next">{upNext}</div>}
        {value && <ReceiptLine video={value} />}
        {value && <About video={value} onJump={(seconds) => jumpTo(machine.value, seconds)} />}
        {value && <Files video={value} />}
        {value && <Timeline kind="video" id={id} platform={platformOf(value)} />}
        {value && (
          <Comments
            id={id}
            count={value.comment_count ?? 0}
            linked={query.get('comment')}
            onJump={(seconds) => jumpTo(machine.value, seconds)}
            duration={value.player.duration}
          />
        )}
      </div>
      <aside class="watch-aside">
        {isWide.value && upNext}
        <Similar load={following.similar} video={value} />
      </aside>
    </div>
  )
}

function toSeconds(text: string | null): number | undefined {
  const seconds = Number(text)
  return text !== null && text !== '' && Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined
}

function jumpTo(machine: Machine | undefined, seconds: number): void {
  if (!machine) return
  machine.jump(seconds)
  void machine.play()
  scrollTo({ top: 0, behavior: 'smooth' })
}

/** A video that was watched to its end is marked as watched. */
async function ended(video: Load<Video>): Promise<void> {
  const { value } = video.now.peek()
  if (value && !value.player.watched) await toggle(video, value)
}

const toggle = (video: Load<Video>, { platform_id: id, player: { watched, progress = 0 } }: Video): Promise<void> =>
  toggleWatched({ id, isWatched: watched, progress }, ({ isWatched }) =>
    video.change((now) => ({ ...now, player: { ...now.player, watched: isWatched } })),
  )

function Title({ video }: { video: Video }) {
  const isOther = useSignal(false)
  const { title, other } = titledAs(video)
  if (!other) return <h1 dir="auto">{title}</h1>
  return (
    <div class="watch-title">
      <h1 dir="auto">{isOther.value ? other.title : title}</h1>
      <IconButton
        icon={ArrowLeftRight}
        label={t('video.otherTitle')}
        title={isOther.value ? title : other.title}
        onClick={() => void (isOther.value = !isOther.value)}
      />
    </div>
  )
}

interface HeadProps {
  video: Load<Video>
  value: Video
  machine: ReadonlySignal<Machine | undefined>
  isTranscript: Signal<boolean>
}

function Head({ video, value, machine, isTranscript }: HeadProps) {
  const { channel, player, stats } = value
  const { title } = titledAs(value)
  const watched = () => void toggle(video, value)
  const add = () => askForPlaylist([{ id: value.platform_id, title }])
  const isHere = hereNow()
  const isLater = value.watch_later === true
  const later = () =>
    void toggleLater({ id: value.platform_id, isLater }, (isNow) =>
      video.change(({ watch_later: _, ...now }) => ({ ...now, ...(isNow && { watch_later: true as const }) })),
    )
  useKeys({ w: watched, q: add })
  const actions = [
    ...offlineAction(value),
    ...exemptAction(value, (isExempt) =>
      video.change(({ keep: _, ...now }) => ({ ...now, ...(isExempt && { keep: true as const }) })),
    ),
    ...videoActions(
      { ...{ id: value.platform_id, title }, platform: platformOf(value), place: value.place },
      () => void (isHere() && navigate('/', { isReplacing: true })),
    ),
  ]
  return (
    <header class="watch-head">
      <Title video={value} />
      <div class="watch-row">
        <a class="watch-channel" href={channelHref(channel.channel_id)}>
          {channelHref(channel.channel_id) && (
            <Portrait url={channel.channel_thumb_url} name={channel.channel_name} size={40} />
          )}
          <span>
            <strong dir="auto">{channel.channel_name}</strong>
            {channel.channel_subs > 0 && (
              <span class="meta">{t('count.subscribers', { count: channel.channel_subs })}</span>
            )}
          </span>
        </a>
        {isAdmin.value && (
          <SubscribeButton
            kind="channel"
            id={channel.channel_id}
            name={channel.channel_name}
            isOn={channel.channel_subscribed}
            show={(isOn) => video.change((now) => ({ ...now, channel: { ...now.channel, channel_subscribed: isOn } }))}
          />
        )}
        <span class="watch-actions">
          <Button icon={player.watched ? CircleDashed : CircleCheck} onClick={watched}>
            {player.watched ? t('video.markUnwatched') : t('video.markWatched')}
          </Button>
          <Button
            icon={isLater ? ClockCheck : Clock}
            aria-pressed={isLater}
            class={isLater ? 'is-on' : ''}
            onClick={later}
          >
            {t('later.name')}
          </Button>
          <ActionButton class="icon-button" title={t('video.addToPlaylist')} onClick={add}>
            <Labelled icon={ListPlus} label={t('video.addToPlaylist')} />
          </ActionButton>
          {value.subtitles.length > 0 && (
            <ActionButton
              class="icon-button"
              title={t('video.transcript')}
              aria-pressed={isTranscript.value}
              onClick={() => void (isTranscript.value = !isTranscript.value)}
            >
              <Labelled icon={Captions} label={t('video.transcript')} />
            </ActionButton>
          )}
          <Menu label={t('video.share')} items={() => shareItems(value, machine.peek()?.position.peek() ?? 0)}>
            <Labelled icon={Share2} label={t('video.share')} />
          </Menu>
          {actions.length > 0 && (
            <Menu label={t('action.moreFor', { title })} items={actions}>
              <Labelled icon={EllipsisVertical} label={t('action.more')} />
            </Menu>
          )}
        </span>
      </div>
      <p class="watch-facts">
        {player.watched && <span class="watched">{t('video.watched')}</span>}
        <span title={toDay(value.published)}>{toAge(value.published)}</span>
        {stats.view_count > 0 && (
          <span title={t('count.views', { count: stats.view_count })}>
            {t('video.viewsShort', { count: stats.view_count, short: toCompact(stats.view_count) })}
          </span>
        )}
        {stats.like_count > 0 && <span>{t('video.likes', { count: stats.like_count })}</span>}
        {stats.dislike_count > 0 && (
          <span>
            {t('video.dislikes', { count: stats.dislike_count })} <DislikesLink />
          </span>
        )}
        {value.lost && (
          <span class="gone" title={t('video.lost.since', { when: toMoment(value.lost.date) })}>
            {t(`video.lost.${value.lost.kind}`, { platform: platformOf(value) })}
            {value.lost.again && (
              <>
                {' '}
                <a href={under(`/video/${value.lost.again}/`)}>{t('video.lost.again')}</a>
              </>
            )}
          </span>
        )}
        {value.cut && (
          <span class="gone" title={t('video.lost.since', { when: toMoment(value.cut.date) })}>
            {t('video.cut', { platform: platformOf(value), length: toClock(value.cut.duration) })}
          </span>
        )}
        {!value.active && !value.lost && (
          <span class="gone">
            {t(value.missing ? 'video.recordOnly' : 'video.gone', { platform: platformOf(value) })}
          </span>
        )}
        {value.active && value.missing && <span class="gone">{t('video.missing')}</span>}
        {value.place?.state === 'away' && <span class="gone">{t('video.away', { place: value.place.label })}</span>}
      </p>
    </header>
  )
}

/** Phones show the label below the icon; on other screens, it is only the accessible name. */
const Labelled = ({ icon, label }: { icon: IconNode; label: string }) => (
  <>
    <Icon node={icon} />
    <span class="watch-label">{label}</span>
  </>
)

const GhostHead = () => (
  <div class="watch-head">
    <Box width="70%" height="28px" />
    <div class="watch-row">
      <Box width="40px" height="40px" radius="50%" />
      <Box width="160px" height="20px" />
    </div>
  </div>
)

const Unknown = () => (
  <Empty isWhole icon={VideoOff} title={t('video.unknown')} text={t('video.unknown.text')}>
    <a class="button main" href={under('/')}>
      {t('app.notFound.next')}
    </a>
  </Empty>
)
