/**
 * What has been understood of a pasted text: each link with its kind and whether it is in the archive, and the words
 * that are none.
 */

import type { IconNode } from 'lucide'
import { Link2Off, ListVideo, SquarePlay, TvMinimalPlay } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { get } from '../server/api.ts'
import { under } from '../server/base.ts'
import type { Channel, Item, Playlist, Target, Video } from '../server/records.ts'
import type { Reading, Understood } from '../stores/understand.ts'
import { t } from '../texts/texts.ts'
import { Icon } from './icon.tsx'

const ICONS: Record<Target['type'], IconNode> = { video: SquarePlay, channel: TvMinimalPlay, playlist: ListVideo }
/** More are a number. */
const MOST_SHOWN = 6

export function Pasted({ reading, isLinked = true }: { reading: Reading; isLinked?: boolean }) {
  const { understood, others, nobody } = reading
  return (
    <ul class="pasted" aria-live="polite">
      {understood.slice(0, MOST_SHOWN).map((one) => (
        <One key={one.word} one={one} isLinked={isLinked} />
      ))}
      {understood.length > MOST_SHOWN && (
        <li class="hint">{t('pasted.more', { count: understood.length - MOST_SHOWN })}</li>
      )}
      {nobody.length > 0 && (
        <li class="pasted-none">
          <Icon node={Link2Off} />
          <span>{t('pasted.nobody', { count: nobody.length, words: shown(nobody) })}</span>
        </li>
      )}
      {others.length > 0 && (
        <li class="pasted-none">
          <Icon node={Link2Off} />
          <span>{t('pasted.none', { count: others.length, words: shown(others) })}</span>
        </li>
      )}
    </ul>
  )
}

const MOST_WORD = 40
const shown = (words: readonly string[]): string =>
  words
    .slice(0, 3)
    .map((word) => `“${word.length > MOST_WORD ? `${word.slice(0, MOST_WORD)}…` : word}”`)
    .join(', ') + (words.length > 3 ? ' …' : '')

function One({ one: { target }, isLinked }: { one: Understood; isLinked: boolean }) {
  const name = useName(target)
  return (
    <li>
      <Icon node={ICONS[target.type]} />
      <span class="pasted-kind">{t(`pasted.${target.type}`)}</span>
      <span class="pasted-name">{name ?? target.id}</span>
      {target.known &&
        (isLinked ? (
          <a class="link" href={under(`/${target.type}/${encodeURIComponent(target.id)}/`)}>
            {t('pasted.known')}
          </a>
        ) : (
          <span class="meta">{t('pasted.known')}</span>
        ))}
    </li>
  )
}

/** What is in the archive has a name; of the others only the platform knows it, and it is not asked while one types. */
function useName({ type, id, known }: Target): string | undefined {
  const [name, setName] = useState<string>()
  useEffect(() => {
    if (!known) return
    const ending = new AbortController()
    nameOf(type, id, ending.signal).then(setName, () => setName(undefined)) // its id says enough
    return () => ending.abort()
  }, [id, known])
  return name
}

async function nameOf(type: Target['type'], id: string, signal: AbortSignal): Promise<string> {
  if (type === 'video') return (await get<Item<Video>>(`/api/video/${id}/`, {}, signal)).data.title
  if (type === 'playlist') return (await get<Item<Playlist>>(`/api/playlist/${id}/`, {}, signal)).data.playlist_name
  // Handles are looked up by the search of channels, from what the server knows.
  return (await get<Item<Channel>>('/api/channel/search/', { q: id }, signal)).data.channel_name
}
