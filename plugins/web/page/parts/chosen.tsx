/**
 * The names of chosen channels or playlists, each with a button that removes it, and the button that opens the picker.
 */
import { Plus, X } from 'lucide'
import { useState } from 'preact/hooks'
import { get } from '../server/api.ts'
import type { Channel, Item, Playlist } from '../server/records.ts'
import { useLoad } from '../stores/load.ts'
import { t } from '../texts/lookup.ts'
import { Button, IconButton } from './button.tsx'

export const KINDS = ['channel', 'playlist'] as const
export type Kind = (typeof KINDS)[number]

/** The most that the server accepts, in a child's view and in a face. */
export const MOST_CHOSEN = 500
/** Number of entries that are shown until somebody expands the list. Each name is a request of its own. */
const FIRST = 20

export function Chosen({
  kind,
  ids,
  most,
  onDrop,
  onPick,
}: {
  kind: Kind
  ids: readonly string[]
  /** The server's limit. */
  most: number
  onDrop: (id: string) => void
  onPick: () => void
}) {
  const [isWhole, setWhole] = useState(false)
  const shown = isWhole ? ids : ids.slice(0, FIRST)
  return (
    <section class="members" aria-label={t(`settings.users.chosen.${kind}`)}>
      <div class="members-head">
        <h3>{t(`settings.users.chosen.${kind}`)}</h3>
        <Button icon={Plus} onClick={onPick}>
          {t(`settings.users.choose.${kind}`)}
        </Button>
      </div>
      {ids.length === 0 && <p class="hint">{t('settings.users.chosen.none')}</p>}
      {ids.length >= most && <p class="hint">{t('settings.users.chosen.most', { count: most })}</p>}
      {ids.length > 0 && (
        <ul>
          {shown.map((id) => (
            <One key={id} kind={kind} id={id} onDrop={() => onDrop(id)} />
          ))}
        </ul>
      )}
      {shown.length < ids.length && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          {t('settings.users.chosen.all', { count: ids.length })}
        </button>
      )}
    </section>
  )
}

function One({ kind, id, onDrop }: { kind: Kind; id: string; onDrop: () => void }) {
  const { now } = useLoad(`chosen/${kind}/${id}`, (signal) => nameOf(kind, id, signal))
  const name = now.value.value ?? id // the id while the name is loading, and if it no longer exists
  return (
    <li>
      <bdi>{name}</bdi>
      <IconButton icon={X} label={t('settings.users.chosen.drop', { name })} onClick={onDrop} />
    </li>
  )
}

const nameOf = async (kind: Kind, id: string, signal: AbortSignal): Promise<string> =>
  kind === 'channel'
    ? (await get<Item<Channel>>(`/api/channel/${id}/`, {}, signal)).data.channel_name
    : (await get<Item<Playlist>>(`/api/playlist/${id}/`, {}, signal)).data.playlist_name
