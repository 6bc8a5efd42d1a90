/** The visibility of a custom playlist: a switch with an explanation, and a label. */
import { Lock, Users } from 'lucide'
import type { Playlist } from '../server/records.ts'
import { account, isAdmin, seesAll } from '../stores/session.ts'
import { t } from '../texts/lookup.ts'
import { Switch } from './field.tsx'
import { Icon } from './icon.tsx'

type Whose = Pick<Playlist, 'playlist_type' | 'playlist_owner' | 'playlist_visibility'>

const isMine = ({ playlist_owner: owner }: Whose): boolean =>
  owner !== undefined && owner !== null && owner === account.value?.id

export const mayChange = (playlist: Whose): boolean =>
  playlist.playlist_type === 'custom' && (isAdmin.value || isMine(playlist))

/** An admin who makes a playlist without an owner private becomes its owner. */
export const maySetVisibility = (playlist: Whose): boolean =>
  isMine(playlist) || (isAdmin.value && playlist.playlist_owner === null)

/** Hidden for children, whose playlists are always private, and until the session is known. */
export function VisibilitySwitch({
  isPrivate,
  onChange,
}: {
  isPrivate: boolean
  onChange: (isPrivate: boolean) => void
}) {
  if (!seesAll.value) return null
  return (
    <Switch
      label={t('visibility.onlyMe')}
      hint={isPrivate ? t('visibility.private.means') : t('visibility.shared.means')}
      isOn={isPrivate}
      onChange={onChange}
    />
  )
}

/** The owner and visibility of a custom playlist. */
export function Visibility({ playlist }: { playlist: Whose }) {
  const isPrivate = playlist.playlist_visibility === 'private'
  return (
    <span class="visibility">
      <Icon node={isPrivate ? Lock : Users} size={16} />
      {isPrivate ? t('visibility.private') : isMine(playlist) ? t('visibility.yours') : t('visibility.shared')}
    </span>
  )
}
