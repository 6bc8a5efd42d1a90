/**
 * Deletes a playlist, alone or with its videos: explains what is deleted and what stays, and requires typing the name
 * if files are deleted.
 */
import { useState } from 'preact/hooks'
import { hereNow, navigate } from '../../browser/router.ts'
import { undoOf } from '../../parts/bin.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Field, Switch } from '../../parts/field.tsx'
import { Form, useForm } from '../../parts/form.tsx'
import { say } from '../../parts/toast.ts'
import { typedFor } from '../../parts/typed-name.ts'
import { remove } from '../../server/api.ts'
import type { Playlist } from '../../server/records.ts'
import { forget } from '../../stores/load.ts'
import { isAdmin } from '../../stores/session.ts'
import { t } from '../../texts/lookup.ts'

export function DeletePlaylist({
  playlist,
  archived,
  onClose,
}: {
  playlist: Playlist
  archived: number
  onClose: () => void
}) {
  const { playlist_id: id, playlist_name: name } = playlist
  const [isWithVideos, setWithVideos] = useState(false)
  const [typed, setTyped] = useState('')
  const form = useForm()
  const wanted = typedFor(name, id)
  const submit = async () => {
    const query = { 'delete-videos': isWithVideos }
    const isHere = hereNow()
    const { removal } = await remove<{ removal?: string }>(`/api/playlist/${id}/`, { query })
    forget()
    say(t('list.deleted', { name }), undoOf([removal]))
    if (isHere()) navigate('/playlists/', { isReplacing: true })
  }
  return (
    <Dialog title={t('list.delete.title')} onClose={onClose}>
      <Form form={form} onSubmit={submit}>
        <div class="prose">
          <p>{isWithVideos ? t('list.delete.goes', { name }) : t('list.delete.only', { name })}</p>
          <p>{playlist.playlist_type === 'custom' ? t('list.delete.own') : t('list.delete.platform')}</p>
          {playlist.playlist_subscribed && <p>{t('list.delete.subscription')}</p>}
        </div>
        {archived > 0 && isAdmin.value && (
          <Switch
            label={t('list.delete.withVideos', { count: archived })}
            isOn={isWithVideos}
            onChange={setWithVideos}
          />
        )}
        {isWithVideos && (
          <>
            <div class="prose">
              <p>{t('list.delete.videosGo', { count: archived })}</p>
              <p>{t('list.delete.queue')}</p>
            </div>
            <Field label={t('delete.typed', { value: wanted })} value={typed} onInput={setTyped} autocomplete="off" />
          </>
        )}
        {form.refusal}
        <footer>
          <Button onClick={onClose}>{t('action.cancel')}</Button>
          <Button kind="danger" type="submit" disabled={isWithVideos && typed.trim() !== wanted}>
            {t('action.delete')}
          </Button>
        </footer>
      </Form>
    </Dialog>
  )
}
