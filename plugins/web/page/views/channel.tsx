/** A channel: header, videos, playlists, and the channel's own settings. */
import { useSignal } from '@preact/signals'
import { CircleCheck, Download, EllipsisVertical, LifeBuoy, RefreshCw, Trash, TvMinimalPlay } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import type { ViewProps } from '../browser/router.ts'
import { changeQuery, hereNow, navigate, route } from '../browser/router.ts'
import { useTitle } from '../browser/title.ts'
import { undoOf } from '../parts/bin.ts'
import { Button } from '../parts/button.tsx'
import { Description } from '../parts/description.tsx'
import { confirm } from '../parts/dialog.tsx'
import { Tabs } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu, type MenuItem } from '../parts/menu.tsx'
import { fromMonth, isLong, MonthChip, MonthSlider, monthOfAddress } from '../parts/months.tsx'
import { originalItem, platformOf } from '../parts/platform-link.ts'
import { PlaylistGrid } from '../parts/playlist-grid.tsx'
import { PodcastDialog, podcastItem } from '../parts/podcast.tsx'
import { Portrait } from '../parts/portrait.tsx'
import { SavedFilters } from '../parts/saved-filters.tsx'
import { Box, Empty, Failed } from '../parts/states.tsx'
import { Subscribers } from '../parts/subscribers.tsx'
import { SubscribeButton } from '../parts/subscription.tsx'
import { Timeline } from '../parts/timeline.tsx'
import { say } from '../parts/toast.ts'
import { TripChip } from '../parts/trip.tsx'
import { listSource } from '../parts/trip-source.ts'
import { typedFor } from '../parts/typed-name.ts'
import { videoActions } from '../parts/video-actions.ts'
import { filtersOfAddress, orderOfAddress, styleOf, VideoFilterBar } from '../parts/video-filters.tsx'
import { VideoList, videoList } from '../parts/video-list.tsx'
import { markAllWatched } from '../parts/watched.ts'
import { get, post, type Query, remove } from '../server/api.ts'
import { under } from '../server/base.ts'
import type { Channel, Item, Page, Playlist, Video } from '../server/records.ts'
import { useTaskEnd } from '../stores/jobs.ts'
import { isThere } from '../stores/left-out.ts'
import { askHowMany } from '../stores/link-preview.ts'
import { countOf, isSome } from '../stores/list.ts'
import { forget, type Load, useLoad } from '../stores/load.ts'
import { isAdmin, mayDownload } from '../stores/session.ts'
import { toCompact } from '../texts/format.ts'
import { type Count, t } from '../texts/lookup.ts'
import { ChannelRules } from './channel/channel-rules.tsx'
import { ChannelSettings } from './channel/channel-settings.tsx'
import { Rescues } from './channel/rescue.tsx'
import { rescue } from './channel/rescue-offers.tsx'

const SHOWN = ['videos', 'playlists', 'settings'] as const
const SORTS = ['published', 'published.asc', 'downloaded', 'views', 'duration', 'mediasize'] as const
const ID = /^[\w-]+$/

export default function ChannelView({ params }: ViewProps) {
  const id = params['channelId']!
  // The address may contain a handle, which the server resolves.
  const load = useLoad(
    `channel/${id}`,
    async (signal) =>
      (
        await (ID.test(id)
          ? get<Item<Channel>>(`/api/channel/${id}/`, {}, signal)
          : get<Item<Channel>>('/api/channel/search/', { q: id }, signal))
      ).data,
  )
  const { state, value, failure } = load.now.value
  useTitle(value?.channel_name)
  useTaskEnd(['check_reindex'], () => void load.reload())
  useEffect(() => {
    if (value && value.channel_id !== id) navigate(`/channel/${value.channel_id}/`, { isReplacing: true })
  }, [value])
  if (state === 'failed')
    return failure.status === 404 ? <Unknown /> : <Failed isWhole failure={failure} onRetry={() => load.reload()} />
  if (!value) return <Ghost />
  return <Known key={value.channel_id} channel={value} load={load} />
}

function Known({ channel, load }: { channel: Channel; load: Load<Channel> }) {
  const asked = route.value.query.get('show')
  const shown = SHOWN.find((one) => one === asked && (one !== 'settings' || isAdmin.value)) ?? 'videos'
  const [total, setTotal] = useState<Count>()
  const at = `/channel/${channel.channel_id}/`
  const items = SHOWN.filter((one) => one !== 'settings' || isAdmin.value).map((key) => ({
    key,
    label: t(`channel.${key}`),
    href: under(key === 'videos' ? at : `${at}?show=${key}`),
  }))
  return (
    <div class="channel">
      <Head channel={channel} load={load} total={total} />
      <Rescues channel={channel.channel_id} />
      <Tabs label={t('channel.parts')} items={items} current={shown} />
      {shown === 'videos' && <Videos channel={channel} onTotal={setTotal} />}
      {shown === 'playlists' && (
        <PlaylistGrid
          query={{ channel: channel.channel_id }}
          empty={
            <Empty
              title={t('channel.playlists.none')}
              text={isAdmin.value ? t('channel.playlists.none.text') : undefined}
            />
          }
        />
      )}
      {shown === 'settings' && <ChannelSettings channel={channel} load={load} />}
    </div>
  )
}

function Head({ channel, load, total }: { channel: Channel; load: Load<Channel>; total: Count | undefined }) {
  const { channel_id: id, channel_name: name } = channel
  const isPodcastOpen = useSignal(false)
  return (
    <header class="channel-head">
      <Banner url={channel.channel_banner_url} />
      <div class="channel-row">
        <Portrait url={channel.channel_thumb_url} name={name} size={88} />
        <div class="channel-words">
          <h1 dir="auto">{name}</h1>
          <p class="facts">
            <Subscribers count={channel.channel_subs} />
            {channel.channel_views > 0 && (
              <span title={t('count.views', { count: channel.channel_views })}>
                {t('video.viewsShort', { count: channel.channel_views, short: toCompact(channel.channel_views) })}
              </span>
            )}
            {total !== undefined && <span>{t('channel.archived', { count: total })}</span>}
            {!channel.channel_active && <span class="gone">{t('video.gone', { platform: platformOf(channel) })}</span>}
          </p>
        </div>
        <div class="channel-actions">
          {isAdmin.value && (
            <SubscribeButton
              kind="channel"
              id={id}
              name={name}
              isOn={channel.channel_subscribed}
              show={(isOn) => load.change((now) => ({ ...now, channel_subscribed: isOn }))}
            />
          )}
          <Menu
            label={t('action.moreFor', { title: name })}
            items={actionsOf(channel, () => void (isPodcastOpen.value = true))}
          >
            <Icon node={EllipsisVertical} />
          </Menu>
        </div>
      </div>
      <Description text={channel.channel_description} of={name} />
      {mayDownload.value && isThere('rules') && <ChannelRules id={id} />}
      <Timeline kind="channel" id={id} platform={platformOf(channel)} />
      {isPodcastOpen.value && (
        <PodcastDialog kind="channel" target={id} onClose={() => void (isPodcastOpen.value = false)} />
      )}
    </header>
  )
}

/** Only if the platform has a banner: the server's substitute has another ratio. */
function Banner({ url }: { url: string }) {
  const [isThere, setThere] = useState(false)
  return (
    <div class={isThere ? 'banner' : 'banner unseen'}>
      <img
        src={under(url)}
        alt=""
        onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) => setThere(naturalWidth / naturalHeight > 2.5)}
      />
    </div>
  )
}

function actionsOf(channel: Channel, listen: () => void): MenuItem[] {
  const { channel_id: id, channel_name: name } = channel
  const watched: MenuItem = {
    label: t('channel.markWatched'),
    icon: CircleCheck,
    onSelect: () => markWatched(id, name),
  }
  const all = [watched, ...podcastItem(listen), ...originalItem(channel)]
  if (!isAdmin.value) return all
  return [
    ...all,
    { label: t('channel.downloadAll'), icon: Download, onSelect: () => downloadAll(id, name) },
    ...(isThere('history')
      ? [{ label: t('rescue.channel'), icon: LifeBuoy, onSelect: () => rescueAll(id, name) }]
      : []),
    {
      label: t('video.refresh', { platform: platformOf(channel) }),
      icon: RefreshCw,
      onSelect: () => post('/api/refresh/', { channel: [id] }).then(() => say(t('video.refreshing'))),
    },
    {
      label: t('channel.delete'),
      icon: Trash,
      isDangerous: true,
      onSelect: () => drop(channel),
    },
  ]
}

async function markWatched(id: string, name: string): Promise<void> {
  if (
    !(await confirm({
      title: t('channel.markWatched.title'),
      text: <p>{t('channel.markWatched.text', { name })}</p>,
      action: t('video.markWatched'),
    }))
  )
    return
  await markAllWatched(id, () => navigate(`/channel/${id}/`))
}

async function downloadAll(id: string, name: string): Promise<void> {
  const count = await askHowMany([{ word: id, target: { type: 'channel', id, known: true } }])
  if (
    !(await confirm({
      title: count === undefined ? t('channel.downloadAll.title') : t('adding.many', { count }),
      text: <p>{t('channel.downloadAll.text', { name })}</p>,
      action: t('channel.downloadAll'),
    }))
  )
    return
  await post('/api/download/', { data: [{ platform_id: id, status: 'pending' }] })
  say(t('channel.downloading'))
}

async function rescueAll(id: string, name: string): Promise<void> {
  const isSure = await confirm({
    title: t('rescue.channel.title'),
    text: <p>{t('rescue.channel.text', { name })}</p>,
    action: t('rescue.do'),
  })
  if (isSure) await rescue(id)
}

async function drop({ channel_id: id, channel_name: name, channel_subscribed: isSubscribed }: Channel): Promise<void> {
  const [videos, playlists] = await Promise.all([
    get<Page<Video>>('/api/video/', { channel: id }),
    get<Page<Playlist>>('/api/playlist/', { channel: id }),
  ])
  const [count, lists] = [countOf(videos.paginate), countOf(playlists.paginate)]
  const text = (
    <>
      <p>{isSome(count) ? t('channel.delete.videos', { name, count }) : t('channel.delete.empty', { name })}</p>
      {isSome(lists) && <p>{t('channel.delete.playlists', { count: lists })}</p>}
      {isSubscribed && <p>{t('channel.delete.subscription')}</p>}
      <p>{t('channel.delete.stays')}</p>
    </>
  )
  const typed = typedFor(name, id)
  const isSure = await confirm({
    title: t('channel.delete.title'),
    text,
    action: t('action.delete'),
    isDangerous: true,
    ...(isSome(count) && { typed: { label: t('delete.typed', { value: typed }), value: typed } }),
  })
  if (!isSure) return
  const isHere = hereNow()
  const { removal } = await remove<{ removal?: string }>(`/api/channel/${id}/`)
  forget()
  say(t('channel.deleted', { name }), undoOf([removal]))
  if (isHere()) navigate('/channels/', { isReplacing: true })
}

function Videos({ channel, onTotal }: { channel: Channel; onTotal: (total: Count) => void }) {
  const style = styleOf('channel')
  const filters = filtersOfAddress(SORTS, style)
  const { watch, type, by, order } = filters
  const isByDay = by === 'published'
  const month = isByDay ? monthOfAddress() : ''
  const firstDay = useSignal('')
  const isFiltered = watch !== '' || type !== '' || month !== ''
  const chosen: Query = { channel: channel.channel_id, watch, type }
  const asked: Query = { ...chosen, ...fromMonth(month, order), sort: by, order }
  const byDay = isByDay ? order : undefined
  const list = videoList('/api/video/', asked, byDay)
  return (
    <>
      <VideoFilterBar filters={filters} sorts={SORTS} hasTypes={channel.channel_tabs.length > 1} view="channel">
        {month !== '' && <MonthChip month={month} />}
        <SavedFilters channel={channel.channel_id} />
        <TripChip source={listSource(channel.channel_name, '/api/video/', asked)} />
      </VideoFilterBar>
      {isByDay && (month !== '' || isLong(list.total.value)) && (
        <MonthSlider query={chosen} order={order} at={firstDay} />
      )}
      <VideoList
        key={JSON.stringify(asked)}
        label={t('channel.videos')}
        path="/api/video/"
        query={asked}
        style={style}
        order={orderOfAddress(by, order)}
        byDay={byDay}
        {...(isByDay && { onFirst: ({ published }: { published: string }) => void (firstDay.value = published) })}
        actions={(row, list) => videoActions(row, () => list.drop(row.id))}
        {...(!isFiltered && { onTotal })}
        empty={isFiltered ? <NothingFits /> : <NoVideos channel={channel} />}
      />
    </>
  )
}

const NothingFits = () => (
  <Empty title={t('home.nothing')}>
    <Button onClick={() => changeQuery({ watch: '', type: '', month: '' })}>{t('home.clearAll')}</Button>
  </Empty>
)

function NoVideos({
  channel: { channel_id: id, channel_name: name, channel_subscribed: isSubscribed },
}: {
  channel: Channel
}) {
  return (
    <Empty
      icon={TvMinimalPlay}
      title={t('channel.empty')}
      text={isSubscribed ? t('channel.empty.subscribed') : t('channel.empty.text')}
    >
      {isAdmin.value && (
        <Button icon={Download} onClick={() => downloadAll(id, name)}>
          {t('channel.downloadAll')}
        </Button>
      )}
    </Empty>
  )
}

const Unknown = () => (
  <>
    <h1 class="unseen">{t('nav.channels')}</h1>
    <Empty title={t('channel.unknown')} text={t('channel.unknown.text')}>
      <a class="button" href={under('/channels/')}>
        {t('channel.toAll')}
      </a>
    </Empty>
  </>
)

const Ghost = () => (
  <div class="channel-row">
    <Box width="88px" height="88px" radius="50%" />
    <div class="channel-words">
      <Box width="240px" height="28px" />
      <Box width="160px" height="14px" />
    </div>
  </div>
)
