/** Watching, for all accounts. */
import { DislikesLink } from '../../parts/dislikes-link.tsx'
import { t } from '../../texts/texts.ts'
import { useConfig } from './config.ts'
import { Loaded } from './loaded.tsx'
import { Group, SwitchOption } from './option.tsx'

export function PlaybackSection() {
  const config = useConfig()
  return (
    <Loaded from={config}>
      {({ downloads, progress }) => (
        <Group title={t('settings.watching')} hint={t('settings.forAll')}>
          <SwitchOption
            label={t('settings.autoWatched')}
            hint={t('settings.autoWatched.hint')}
            value={progress.autoWatched}
            onSave={(autoWatched) => config.save({ progress: { autoWatched } })}
          />
          <SwitchOption
            label={t('settings.segments')}
            hint={t('settings.segments.hint')}
            value={downloads.integrate_sponsorblock}
            onSave={(on) => config.save({ downloads: { integrate_sponsorblock: on } })}
          />
          <SwitchOption
            label={t('settings.dislikes')}
            hint={
              <>
                {t('settings.dislikes.hint')} <DislikesLink />
              </>
            }
            value={downloads.integrate_ryd}
            onSave={(on) => config.save({ downloads: { integrate_ryd: on } })}
          />
        </Group>
      )}
    </Loaded>
  )
}
