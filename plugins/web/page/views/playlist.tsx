/** A playlist: its videos in order, including missing ones. Custom playlists can be reordered by pointer or keys. */
import { useSignal } from '@preact/signals'
import {
  ArrowDownToLine,
  ArrowUpToLine,
  CircleCheck,
  Download,
  EllipsisVertical,
  ListMinus,
  ListVideo,
  Pencil,
  Play,
  RefreshCw,
  Trash,
} from 'lucide'
import { useEffect, useRef } from 'preact/hooks'
import type { ViewProps } from '../browser/router.ts'
import { changeQuery, route } from '../browser/router.ts'
import { useTitle } from '../browser/title.ts'
import { IconButton } from '../parts/button.tsx'
import { Description } from '../parts/description.tsx'
import { confirm } from '../parts/dialog.tsx'
import { Chips } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { Menu, type MenuItem } from '../parts/menu.tsx'
import { YOUTUBE } from '../parts/platform-link.ts'
import { PodcastDialog, podcastItem } from '../parts/podcast.tsx'
import { choosingIn } from '../parts/selection.ts'
import { SelectionBar } from '../parts/selection-bar.tsx'
import { Box, Empty, Failed } from '../parts/states.tsx'
import { SubscribeButton } from '../parts/subscription.tsx'
import { Timeline } from '../parts/timeline.tsx'
import { say } from '../parts/toast.ts'
import { tripAction } from '../parts/trip.tsx'
import { listSource } from '../parts/trip-source.ts'
import { videoActions } from '../parts/video-actions.ts'
import { rowHeight, VideoCard } from '../parts/video-card.tsx'
import { GhostCard, videoList } from '../parts/video-list.tsx'
import type { VideoRow } from '../parts/video-row.ts'
import { VirtualGrid } from '../parts/virtual-grid.tsx'
import { mayChange, Visibility } from '../parts/visibility.tsx'
import { showLater, WATCH_LATER } from '../parts/watch-later.ts'
import { markAllWatched, toggleWatched } from '../parts/watched.ts'
import { get, post } from '../server/api.ts'
import { inSizes, under } from '../server/base.ts'
import type { Item, Playlist, PlaylistEntry } from '../server/records.ts'
import { useTaskEnd } from '../stores/jobs.ts'
import type { List } from '../stores/list.ts'
import { type Load, useLoad } from '../stores/load.ts'
import { channelHref, isAdmin } from '../stores/session.ts'
import { toNumber } from '../texts/format.ts'
import { t } from '../texts/lookup.ts'
import { DeletePlaylist } from './playlist/delete.tsx'
import { EditPlaylist } from './playlist/edit.tsx'
import { Handle, useOrder, whenStored } from './playlist/order.tsx'

const SHOWN = ['', 'here', 'missing'] as const
const FIRST = 24
const GAP = 8

export default function PlaylistView({ params }: ViewProps) {
  const id = params['playlistId']!
  const load = useLoad(`playlist/${id}`, async (signal) => {
    await whenStored(id) // an earlier reply would lack changes that are already shown
    return (await get<Item<Playlist>>(`/api/playlist/${id}/`, {}, signal)).data
  })
  const { state, value, failure } = load.now.value
  useTitle(value?.playlist_name)
  useTaskEnd(['subscribe_to', 'update_subscribed', 'download_pending', 'check_reindex'], () => void load.reload())
  if (state === 'failed')
    return failure.status === 404 ? <Unknown /> : <Failed isWhole failure={failure} onRetry={() => load.reload()} />
  if (!value) return <Ghost />
  return <Known key={id} playlist={value} load={load} />
}

function Known({ playlist, load }: { playlist: Playlist; load: Load<Playlist> }) {
  const { playlist_entries: entries } = playlist
  const isLater = playlist.playlist_id === WATCH_LATER
  const missing = entries.filter(({ downloaded }) => !downloaded).length
  const asked = route.value.query.get('show')
  const shown = missing > 0 ? (SHOWN.find((one) => one === asked) ?? '') : ''
  return (
    <div class="playlist">
      <Head playlist={playlist} load={load} missing={missing} />
      {missing > 0 && missing < entries.length && (
        <Chips
          label={t('list.show')}
          value={shown}
          choices={SHOWN.map((value) => ({ value, label: t(`list.show.${value}`) }))}
          onChange={(value) => changeQuery({ show: value })}
        />
      )}
      {entries.length === 0 ? (
        <Empty
          icon={ListVideo}
          title={t('list.empty')}
          text={isLater ? t('later.empty') : mayChange(playlist) ? t('list.empty.own') : undefined}
        />
      ) : (
        <Entries key={shown} playlist={playlist} load={load} shown={shown} />
      )}
    </div>
  )
}

/** The width of its picture, as in `playlists.css`. */
const WIDTH = '(max-width: 719px) 200px, 280px'

function Head({ playlist, load, missing }: { playlist: Playlist; load: Load<Playlist>; missing: number }) {
  const { playlist_id: id, playlist_name: name, playlist_entries: entries } = playlist
  const isOwn = playlist.playlist_type === 'custom'
  const open = useSignal<'' | Opened>('')
  const close = () => void (open.value = '')
  const first = entries.find(({ downloaded }) => downloaded)
  return (
    <header class="playlist-head">
      {entries.length > 0 && (
        <span class="picture">
          <img {...inSizes(playlist.playlist_thumbnail, WIDTH)} alt="" width={320} height={180} />
        </span>
      )}
      <div class="playlist-words">
        <h1 dir="auto">{name}</h1>
        <p class="facts">
          {isOwn ? (
            <Visibility playlist={playlist} />
          ) : playlist.playlist_channel_id ? (
            <a href={channelHref(playlist.playlist_channel_id)}>{playlist.playlist_channel}</a>
          ) : (
            <span>{t('playlists.platform')}</span>
          )}
          <span>
            {missing === 0
              ? t('count.videos', { count: entries.length })
              : t('playlists.partly', { count: entries.length, archived: entries.length - missing })}
          </span>
          {!isOwn && !playlist.playlist_active && <span class="gone">{t('video.gone', { platform: YOUTUBE })}</span>}
        </p>
        <Description text={playlist.playlist_description} of={name} />
        {!isOwn && <Timeline kind="playlist" id={playlist.playlist_id} platform={YOUTUBE} />}
        <div class="playlist-actions">
          {first && (
            <a class="button main" href={under(`/video/${first.platform_id}/?list=${id}`)}>
              <Icon node={Play} />
              {t('list.play')}
            </a>
          )}
          {isAdmin.value && !isOwn && (
            <SubscribeButton
              kind="playlist"
              id={id}
              name={name}
              isOn={playlist.playlist_subscribed}
              isCalm={first !== undefined}
              show={(isOn) => load.change((now) => ({ ...now, playlist_subscribed: isOn }))}
            />
          )}
          <Menu
            label={t('action.moreFor', { title: name })}
            items={actionsOf(playlist, missing, (which) => void (open.value = which))}
          >
            <Icon node={EllipsisVertical} />
          </Menu>
        </div>
      </div>
      {open.value === 'podcast' && <PodcastDialog kind="playlist" target={id} onClose={close} />}
      {open.value === 'edit' && <EditPlaylist playlist={playlist} load={load} onClose={close} />}
      {open.value === 'delete' && (
        <DeletePlaylist playlist={playlist} archived={entries.length - missing} onClose={close} />
      )}
    </header>
  )
}

type Opened = 'podcast' | 'edit' | 'delete'

function actionsOf(playlist: Playlist, missing: number, open: (which: Opened) => void): MenuItem[] {
  const { playlist_id: id, playlist_name: name, playlist_type: type } = playlist
  const watched: MenuItem = {
    label: t('list.markWatched'),
    icon: CircleCheck,
    onSelect: () => markWatched(id, name),
  }
  const listen = [
    ...podcastItem(() => open('podcast')),
    ...tripAction(t('trip.open'), listSource(name, '/api/video/', { playlist: id })),
  ]
  // Watch later cannot be renamed or deleted.
  if (id === WATCH_LATER || !(isAdmin.value || mayChange(playlist))) return [watched, ...listen]
  const ofItsKind: MenuItem[] =
    type === 'custom'
      ? [{ label: t('list.edit'), icon: Pencil, onSelect: () => open('edit') }]
      : [
          ...(missing > 0
            ? [
                {
                  label: t('list.downloadMissing', { count: missing }),
                  icon: Download,
                  onSelect: () => queue(id, t('list.downloading')),
                },
              ]
            : []),
          {
            label: t('video.refresh', { platform: YOUTUBE }),
            icon: RefreshCw,
            onSelect: () => post('/api/refresh/', { playlist: [id] }).then(() => say(t('video.refreshing'))),
          },
        ]
  return [
    ...[watched, ...listen],
    ...ofItsKind,
    { label: t('list.delete'), icon: Trash, isDangerous: true, onSelect: () => open('delete') },
  ]
}

async function queue(id: string, said: string): Promise<void> {
  await post('/api/download/', { data: [{ platform_id: id, status: 'pending' }] })
  say(said)
}

async function markWatched(id: string, name: string): Promise<void> {
  if (
    !(await confirm({
      title: t('list.markWatched.title'),
      text: <p>{t('list.markWatched.text', { name })}</p>,
      action: t('video.markWatched'),
    }))
  )
    return
  await markAllWatched(id, () => changeQuery({}))
}

/** If videos were downloaded after the list was read to its end, reads the list again, once for the same videos. */
function useArrivals({ playlist_entries: entries }: Playlist, list: List<VideoRow>): void {
  const known = new Set(list.rows.value.map(({ id }) => id))
  const absent = entries
    .filter(({ platform_id: id, downloaded }) => downloaded && !known.has(id))
    .map(({ platform_id: id }) => id)
    .join()
  const askedFor = useRef('')
  const isWhole = list.isWhole.value
  useEffect(() => {
    if (!isWhole || absent === '' || absent === askedFor.current) return
    askedFor.current = absent
    void list.reload()
  }, [absent, isWhole])
}

function Entries({
  playlist,
  load,
  shown,
}: {
  playlist: Playlist
  load: Load<Playlist>
  shown: (typeof SHOWN)[number]
}) {
  const { playlist_id: id } = playlist
  const list = videoList(`/api/playlist/${id}/video/`)
  useEffect(() => void list.reach(FIRST), [list])
  const isOrdered = mayChange(playlist)
  const isLater = id === WATCH_LATER
  const order = useOrder(playlist, load, rowHeight() + GAP)
  const entries = isOrdered
    ? order.entries
    : playlist.playlist_entries.filter(({ downloaded }) => shown === '' || downloaded === (shown === 'here'))
  const takeOut = async (ids: string[]) => {
    await order.remove(ids)
    if (isLater) for (const one of ids) showLater(one, false)
  }
  const rows = new Map(list.rows.value.map((row) => [row.id, isLater ? { ...row, isLater } : row]))
  const inOrder = entries.flatMap(({ platform_id }) => rows.get(platform_id) ?? [])
  useArrivals(playlist, list)
  // Videos are loaded in the playlist's order, as far as they are visible.
  const reach = (last: number) =>
    void list.reach(Math.max(FIRST, entries.slice(0, last + FIRST).filter(({ downloaded }) => downloaded).length))
  if (list.rows.value.length === 0 && list.state.value === 'failed')
    return <Failed failure={list.failure.value} onRetry={() => list.retry()} />
  if (entries.length === 0) return <Empty title={t('list.nothing')} />
  return (
    <div class={order.draggedId ? 'ordering' : ''} ref={order.box}>
      <VirtualGrid
        label={t('list.entries')}
        count={entries.length}
        isList
        minWidth={0}
        gap={GAP}
        heightOf={rowHeight}
        onSight={(_first, last) => reach(last)}
        keyOf={(position) => entries[position]?.platform_id}
        render={(position) => {
          const entry = entries[position]!
          const row = rows.get(entry.platform_id)
          const isLifted = order.draggedId === entry.platform_id
          return (
            <div class={`entry${isLifted ? ' lifted' : ''}`}>
              <span class="entry-position">{toNumber(position + 1)}</span>
              {!entry.downloaded ? (
                <Missing entry={entry} />
              ) : row ? (
                <VideoCard
                  row={row}
                  isList
                  query={`?list=${id}`}
                  onWatched={(one) => void toggleWatched(one)}
                  {...(isLater && { onLater: (one) => void takeOut([one.id]) })}
                  choosing={choosingIn(list, row, inOrder)}
                  actions={[
                    ...(isOrdered ? ownActions(entry, order, takeOut) : []),
                    ...videoActions(row, () => (void load.reload(), load.reload)),
                  ]}
                />
              ) : (
                <GhostCard isList />
              )}
              {isOrdered && <Handle order={order} entry={entry} position={position} />}
            </div>
          )
        }}
      />
      <SelectionBar list={list} onRemove={isOrdered ? takeOut : undefined} onChanged={() => void load.reload()} />
      {isOrdered && (
        <p class="unseen" role="status">
          {order.said}
        </p>
      )}
    </div>
  )
}

function ownActions(
  entry: PlaylistEntry,
  order: ReturnType<typeof useOrder>,
  takeOut: (ids: string[]) => Promise<void>,
): MenuItem[] {
  return [
    { label: t('list.toTop'), icon: ArrowUpToLine, onSelect: () => order.move(entry.platform_id, 0) },
    {
      label: t('list.toBottom'),
      icon: ArrowDownToLine,
      onSelect: () => order.move(entry.platform_id, order.entries.length - 1),
    },
    { label: t('list.remove'), icon: ListMinus, onSelect: () => void takeOut([entry.platform_id]) },
  ]
}

function Missing({ entry }: { entry: PlaylistEntry }) {
  return (
    <article class="card row missing">
      <span class="picture">
        <Icon node={ListVideo} />
      </span>
      <div class="card-text">
        <p class="card-title" dir="auto">
          {entry.title}
        </p>
        <p class="meta">
          {entry.uploader && <span>{entry.uploader}</span>}
          <span>{t('list.missing')}</span>
        </p>
      </div>
      {isAdmin.value && (
        <IconButton
          icon={Download}
          label={t('list.download', { title: entry.title })}
          onClick={() => queue(entry.platform_id, t('downloads.did.pending', { count: 1 }))}
        />
      )}
    </article>
  )
}

const Unknown = () => (
  <>
    <h1 class="unseen">{t('nav.playlists')}</h1>
    <Empty title={t('list.unknown')} text={t('list.unknown.text')}>
      <a class="button" href={under('/playlists/')}>
        {t('list.toAll')}
      </a>
    </Empty>
  </>
)

const Ghost = () => (
  <div class="playlist-head">
    <span class="picture box" />
    <div class="playlist-words">
      <Box width="240px" height="28px" />
      <Box width="160px" height="14px" />
    </div>
  </div>
)
