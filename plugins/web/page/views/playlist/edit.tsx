/** The name of a custom playlist, and who sees it. */
import { useState } from 'preact/hooks'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field } from '../../parts/field.tsx'
import { say } from '../../parts/toast.tsx'
import { maySetVisibility, VisibilitySwitch } from '../../parts/visibility.tsx'
import { post, toFailure } from '../../server/api.ts'
import type { Playlist } from '../../server/records.ts'
import { forget, type Load } from '../../stores/load.ts'
import { t } from '../../texts/texts.ts'

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
  const [name, setName] = useState(was.name)
  const [isPrivate, setPrivate] = useState(was.isPrivate)
  const [error, setError] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const save = async (event: Event) => {
    event.preventDefault()
    if (name.trim() === '') return setError(t('form.required'))
    setBusy(true)
    try {
      await post(`/api/playlist/${playlist.playlist_id}/`, {
        playlist_name: name.trim(),
        ...(isPrivate !== was.isPrivate && { playlist_visibility: isPrivate ? 'private' : 'shared' }),
      })
      forget('list playlists')
      forget('playlists')
      await load.reload()
      onClose()
      say(t('list.saved'))
    } catch (thrown) {
      setError(toFailure(thrown).message)
      setBusy(false)
    }
  }
  return (
    <Dialog title={t('list.edit')} onClose={onClose}>
      <form onSubmit={(event) => void save(event)} noValidate>
        <Field
          label={t('playlists.name')}
          value={name}
          error={error}
          autocomplete="off"
          onInput={(value) => {
            setName(value)
            setError(undefined)
          }}
        />
        {maySetVisibility(playlist) && <VisibilitySwitch isPrivate={isPrivate} onChange={setPrivate} />}
        <footer>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button kind="main" type="submit" isBusy={isBusy}>
            {t('action.save')}
          </Button>
        </footer>
      </form>
    </Dialog>
  )
}
