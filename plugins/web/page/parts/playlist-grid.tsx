/** Playlists as cards: picture, number of archived videos, owner. */

import { Check, ListVideo } from 'lucide'
import type { ComponentChildren } from 'preact'
import type { Query } from '../server/api.ts'
import { sharp, under } from '../server/base.ts'
import type { Playlist } from '../server/records.ts'
import { useTaskEnd } from '../stores/jobs.ts'
import { cachedList } from '../stores/list.ts'
import { t } from '../texts/lookup.ts'
import { Icon } from './icon.tsx'
import { ListGrid } from './list-grid.tsx'
import { YOUTUBE } from './platform-link.ts'
import { cardHeight, cardMinWidth } from './video-card.tsx'
import { GhostCard } from './video-list.tsx'
import { Visibility } from './visibility.tsx'

/** What a card shows. The server lists all entries of each playlist, so only this part is cached. */
interface Row {
  id: string
  name: string
  picture: string
  owner: string | null
  /** Only for custom playlists. */
  whose: Pick<Playlist, 'playlist_type' | 'playlist_owner' | 'playlist_visibility'> | undefined
  isSubscribed: boolean
  isGone: boolean
  total: number
  archived: number
}

const toRow = (playlist: Playlist): Row => ({
  id: playlist.playlist_id,
  name: playlist.playlist_name,
  picture: playlist.playlist_thumbnail,
  owner: playlist.playlist_channel,
  whose:
    playlist.playlist_type === 'custom'
      ? {
          playlist_type: 'custom',
          playlist_owner: playlist.playlist_owner,
          playlist_visibility: playlist.playlist_visibility,
        }
      : undefined,
  isSubscribed: playlist.playlist_subscribed,
  isGone: playlist.playlist_type === 'regular' && !playlist.playlist_active,
  total: playlist.playlist_entries.length,
  archived: playlist.playlist_entries.filter(({ downloaded }) => downloaded).length,
})

const AHEAD = 24

export function PlaylistGrid({ query, empty }: { query: Query; empty: ComponentChildren }) {
  const list = cachedList<Playlist, Row>(`playlists ${JSON.stringify(query)}`, {
    path: '/api/playlist/',
    query,
    idOf: ({ id }) => id,
    toRow,
  })
  useTaskEnd(['subscribe_to', 'update_subscribed', 'index_playlists'], () => void list.reload())
  return (
    <ListGrid
      list={list}
      label={t('nav.playlists')}
      ahead={AHEAD}
      minWidth={cardMinWidth()}
      heightOf={cardHeight}
      ghost={<GhostCard />}
      empty={empty}
      render={(row) => <PlaylistCard row={row} />}
    />
  )
}

function PlaylistCard({ row }: { row: Row }) {
  const href = under(`/playlist/${row.id}/`)
  return (
    <article class="card playlist-card">
      <a class="picture" href={href} tabIndex={-1} aria-hidden="true">
        {row.total > 0 ? (
          <img {...sharp(row.picture)} alt="" width={320} height={180} decoding="async" />
        ) : (
          <Icon node={ListVideo} size={40} />
        )}
        <span class="playlist-count">
          <Icon node={ListVideo} size={16} />
          {row.archived === row.total
            ? t('count.videos', { count: row.total })
            : t('playlists.partly', { count: row.total, archived: row.archived })}
        </span>
      </a>
      <div class="card-text">
        <p class="card-title">
          <a href={href} dir="auto">
            {row.name}
          </a>
        </p>
        <p class="meta">
          {row.whose ? <Visibility playlist={row.whose} /> : <span>{row.owner ?? t('playlists.platform')}</span>}
          {row.isSubscribed && (
            <span class="playlist-on">
              <Icon node={Check} size={16} /> {t('video.subscribed')}
            </span>
          )}
          {row.isGone && <span class="gone">{t('video.gone', { platform: YOUTUBE })}</span>}
        </p>
      </div>
    </article>
  )
}
