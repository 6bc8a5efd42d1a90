/** Chooses channels or playlists by name. */
import { useEffect, useState } from 'preact/hooks'
import { type Failure, get, isAborted, toFailure } from '../server/api.ts'
import type { Channel, Page, Playlist, SearchResults } from '../server/records.ts'
import { t } from '../texts/lookup.ts'
import { Button } from './button.tsx'
import { Choice } from './choice.tsx'
import { Dialog } from './dialog.tsx'
import { Field } from './field.tsx'
import { Box, Failed } from './states.tsx'

interface Found {
  id: string
  name: string
}

const REST_MS = 150
const KINDS = {
  channel: async (q: string, signal: AbortSignal): Promise<Found[]> =>
    (await get<Page<Channel>>('/api/channel/', { q }, signal)).data.map(({ channel_id: id, channel_name: name }) => ({
      id,
      name,
    })),
  // The API has no filter for the names of playlists, but the search syntax has one.
  playlist: async (q: string, signal: AbortSignal): Promise<Found[]> => {
    const found =
      q === ''
        ? (await get<Page<Playlist>>('/api/playlist/', {}, signal)).data
        : (await get<{ results: SearchResults }>('/api/search/', { query: `playlist:${q}` }, signal)).results
            .playlist_results
    return found.map(({ playlist_id: id, playlist_name: name }) => ({ id, name }))
  },
}

export function Picker({
  kind,
  title,
  chosen,
  onPick,
  onClose,
}: {
  kind: keyof typeof KINDS
  title: string
  /** If several can be chosen: these are marked, and choosing one again removes it. */
  chosen?: readonly string[]
  onPick: (found: Found) => void
  onClose: () => void
}) {
  const [text, setText] = useState('')
  const [found, setFound] = useState<Found[]>()
  const [failure, setFailure] = useState<Failure>()
  const [round, setRound] = useState(0)
  useEffect(() => {
    const ending = new AbortController()
    const timer = setTimeout(
      () =>
        KINDS[kind](text.trim(), ending.signal).then(
          (all) => (setFound(all), setFailure(undefined)),
          (error: unknown) => !isAborted(error) && setFailure(toFailure(error)),
        ),
      text === '' ? 0 : REST_MS,
    )
    return () => {
      clearTimeout(timer)
      ending.abort()
    }
  }, [text, round])
  return (
    <Dialog title={title} onClose={onClose}>
      <Field label={t('pick.find')} type="search" value={text} onInput={setText} autocomplete="off" />
      {failure && <Failed failure={failure} onRetry={() => setRound(round + 1)} />}
      {!found && !failure && <Box height="144px" radius="8px" />}
      {found?.length === 0 && <p class="hint">{t('pick.none')}</p>}
      {found && found.length > 0 && (
        <ul class="choices">
          {found.map((one) => (
            <Choice key={one.id} name={one.name} isChosen={chosen?.includes(one.id)} onPick={() => onPick(one)} />
          ))}
        </ul>
      )}
      {chosen && (
        <footer>
          <Button kind="main" onClick={onClose}>
            {t('action.done')}
          </Button>
        </footer>
      )}
    </Dialog>
  )
}
