/** Playlists: custom ones, shared ones and those of the platform. Here people create and subscribe to others. */

import { useSignal } from '@preact/signals'
import { Clock, ListPlus, ListVideo, Plus, Rss } from 'lucide'
import { changeQuery, navigate, route } from '../browser/router.ts'
import { Button } from '../parts/button.tsx'
import { useWhileOpen } from '../parts/dialog.tsx'
import { Chips } from '../parts/field.tsx'
import { Icon } from '../parts/icon.tsx'
import { type PlaylistChoice, PlaylistForm } from '../parts/playlist-form.tsx'
import { PlaylistGrid } from '../parts/playlist-grid.tsx'
import { Empty } from '../parts/states.tsx'
import { SubscribeDialog } from '../parts/subscription.tsx'
import { WATCH_LATER } from '../parts/watch-later.ts'
import { post, type Query } from '../server/api.ts'
import { under } from '../server/base.ts'
import type { Playlist } from '../server/records.ts'
import { forgetPlaylists } from '../stores/playlists.ts'
import { isAdmin } from '../stores/session.ts'
import { t } from '../texts/lookup.ts'

const SHOWN = ['', 'own', 'shared', 'regular', 'subscribed'] as const
const QUERIES: Record<(typeof SHOWN)[number], Query> = {
  '': {},
  own: { own: true },
  shared: { playlist_type: 'custom', visibility: 'shared' },
  regular: { playlist_type: 'regular' },
  subscribed: { subscribed: true },
}

export default function Playlists() {
  const asked = route.value.query.get('show')
  const show = SHOWN.find((one) => one === asked) ?? ''
  const open = useSignal<'' | 'new' | 'subscribe'>('')
  const close = () => void (open.value = '')
  return (
    <div class="playlists">
      <header class="page-head">
        <h1>{t('nav.playlists')}</h1>
        <div class="page-actions">
          <a class="button" href={under(`/playlist/${WATCH_LATER}/`)}>
            <Icon node={Clock} />
            {t('later.name')}
          </a>
          <Button icon={Plus} onClick={() => void (open.value = 'new')}>
            {t('playlists.new')}
          </Button>
          {isAdmin.value && (
            <Button kind="main" icon={Rss} onClick={() => void (open.value = 'subscribe')}>
              {t('video.subscribe')}
            </Button>
          )}
        </div>
      </header>
      <div class="list-filters">
        <Chips
          label={t('playlists.show')}
          value={show}
          choices={SHOWN.map((value) => ({ value, label: t(`playlists.show.${value}`) }))}
          onChange={(value) => changeQuery({ show: value })}
        />
      </div>
      <PlaylistGrid
        key={show}
        query={QUERIES[show]}
        empty={
          <Empty
            icon={ListVideo}
            title={show === '' || show === 'own' ? t('playlists.empty') : t('playlists.nothing')}
            text={show === '' || show === 'own' ? t('playlists.empty.text') : undefined}
          />
        }
      />
      {open.value === 'new' && <NewPlaylist onClose={close} />}
      {open.value === 'subscribe' && <SubscribeDialog onClose={close} />}
    </div>
  )
}

function NewPlaylist({ onClose }: { onClose: () => void }) {
  const show = useWhileOpen((id: string) => {
    onClose()
    navigate(`/playlist/${id}/`)
  })
  const create = async ({ name, isPrivate }: PlaylistChoice) => {
    const { playlist_id: id } = await post<Playlist>('/api/playlist/custom/', {
      playlist_name: name,
      playlist_visibility: isPrivate ? 'private' : 'shared',
    })
    forgetPlaylists()
    show(id)
  }
  return (
    <PlaylistForm
      title={t('playlists.new')}
      was={{ name: '', isPrivate: true }}
      hasVisibility
      action={t('playlists.create')}
      icon={ListPlus}
      onSave={create}
      onClose={onClose}
    />
  )
}
