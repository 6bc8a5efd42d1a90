/** Edits the name and visibility of a custom playlist. */
import { useWhileOpen } from '../../parts/dialog.tsx'
import { type PlaylistChoice, PlaylistForm } from '../../parts/playlist-form.tsx'
import { say } from '../../parts/toast.ts'
import { maySetVisibility } from '../../parts/visibility.tsx'
import { post } from '../../server/api.ts'
import type { Playlist } from '../../server/records.ts'
import type { Load } from '../../stores/load.ts'
import { forgetPlaylists } from '../../stores/playlists.ts'
import { t } from '../../texts/lookup.ts'

export function EditPlaylist({
  playlist,
  load,
  onClose,
}: {
  playlist: Playlist
  load: Load<Playlist>
  onClose: () => void
}) {
  const was = { name: playlist.playlist_name, isPrivate: playlist.playlist_visibility === 'private' }
  const close = useWhileOpen(onClose)
  const save = async ({ name, isPrivate }: PlaylistChoice) => {
    await post(`/api/playlist/${playlist.playlist_id}/`, {
      playlist_name: name,
      ...(isPrivate !== was.isPrivate && { playlist_visibility: isPrivate ? 'private' : 'shared' }),
    })
    forgetPlaylists()
    await load.reload()
    close()
    say(t('list.saved'))
  }
  return (
    <PlaylistForm
      title={t('list.edit')}
      was={was}
      hasVisibility={maySetVisibility(playlist)}
      action={t('action.save')}
      onSave={save}
      onClose={onClose}
    />
  )
}
