/** Adds videos to a custom playlist or to a new one; choosing a playlist that already contains them removes them. */
import { signal } from '@preact/signals'
import { Check, ListPlus } from 'lucide'
import { useRef, useState } from 'preact/hooks'
import { post, type Query, whenOver } from '../server/api.ts'
import { getAll } from '../server/paged.ts'
import type { Playlist } from '../server/records.ts'
import { forget, useLoad } from '../stores/load.ts'
import { isAdmin } from '../stores/session.ts'
import { t } from '../texts/lookup.ts'
import { ActionButton, Button } from './button.tsx'
import { Dialog, useWhileOpen } from './dialog.tsx'
import { Field } from './field.tsx'
import { Form, useForm } from './form.tsx'
import { Icon } from './icon.tsx'
import { inPieces } from './pieces.ts'
import { Box, Failed } from './states.tsx'
import { say } from './toast.ts'
import { VisibilitySwitch } from './visibility.tsx'
import { WATCH_LATER } from './watch-later.ts'

interface Target {
  id: string
  title: string
}

const asked = signal<{ videos: readonly Target[]; onDone: (() => void) | undefined } | undefined>(undefined)
whenOver(() => void (asked.value = undefined))

/** Several videos are added together; they are removed if all of them are in the playlist. */
export const askForPlaylist = (videos: readonly Target[], onDone?: () => void): void =>
  void (asked.value = { videos, onDone })

/** Rendered once in the frame. */
export function PlaylistDialog() {
  return asked.value ? <Asked {...asked.value} /> : null
}

/** The most that an account may have. */
const MOST_PLAYLISTS = 500

/** The playlists that the account may change. Watch later has its own button. */
async function ownPlaylists(): Promise<Playlist[]> {
  const query: Query = isAdmin.value ? { playlist_type: 'custom' } : { own: true }
  const found = await getAll<Playlist>('/api/playlist/', query, MOST_PLAYLISTS + 1)
  return found.filter(({ playlist_id: id }) => id !== WATCH_LATER)
}

function Asked({ videos, onDone }: NonNullable<typeof asked.value>) {
  const [name, setName] = useState('')
  const [isPrivate, setPrivate] = useState(true)
  const form = useForm({ name: { wrong: name.trim() === '' && t('form.required'), showsRest: true } })
  const { now, reload } = useLoad('playlists/own', ownPlaylists)
  const close = () => void (asked.value = undefined)
  const end = useWhileOpen(() => {
    close()
    onDone?.()
  })

  const isIn = ({ playlist_entries: entries }: Playlist): boolean => {
    const there = new Set(entries.map(({ platform_id: id }) => id))
    return videos.every(({ id }) => there.has(id))
  }
  const choose = async (playlist: Playlist) => {
    const wasIn = isIn(playlist)
    await inPieces(
      videos.map(({ id }) => id),
      (video_ids) =>
        post(`/api/playlist/${playlist.playlist_id}/bulk/`, { action: wasIn ? 'remove' : 'create', video_ids }),
    )
    for (const key of ['playlist', 'list playlists', `list /api/playlist/${playlist.playlist_id}/`]) forget(key)
    say(t(wasIn ? 'playlist.removed' : 'playlist.added', { name: playlist.playlist_name }))
    end()
  }
  /** The playlist that was created. If adding the videos has failed, the next attempt adds them to this playlist. */
  const made = useRef<Playlist>(undefined)
  const create = async () => {
    const wanted = { playlist_name: name.trim(), playlist_visibility: isPrivate ? 'private' : 'shared' }
    const isMade = Object.entries(wanted).every(([key, value]) => made.current?.[key as 'playlist_name'] === value)
    if (!isMade) made.current = await post<Playlist>('/api/playlist/custom/', wanted)
    await choose(made.current!)
  }

  const { state, value, failure } = now.value
  return (
    <Dialog title={t('playlist.choose')} onClose={close}>
      <p class="meta">{videos.length === 1 ? videos[0]!.title : t('select.count', { count: videos.length })}</p>
      {state === 'loading' && <Box height="44px" radius="8px" />}
      {state === 'failed' && <Failed failure={failure} onRetry={reload} />}
      {state === 'ready' && value.length === 0 && <p>{t('playlist.none')}</p>}
      {state === 'ready' && value.length > 0 && (
        <ul class="choices">
          {value.map((playlist) => (
            <li key={playlist.playlist_id}>
              <ActionButton aria-pressed={isIn(playlist)} onClick={() => choose(playlist)}>
                <span dir="auto">{playlist.playlist_name}</span>
                {isIn(playlist) && <Icon node={Check} size={16} />}
                <span class="meta">{t('count.videos', { count: playlist.playlist_entries.length })}</span>
              </ActionButton>
            </li>
          ))}
        </ul>
      )}
      <Form form={form} onSubmit={create}>
        <Field label={t('playlist.newName')} value={name} onInput={setName} error={form.errors.name} />
        <VisibilitySwitch isPrivate={isPrivate} onChange={setPrivate} />
        <footer>
          <Button kind="main" type="submit" icon={ListPlus}>
            {t('playlist.create')}
          </Button>
        </footer>
      </Form>
    </Dialog>
  )
}
