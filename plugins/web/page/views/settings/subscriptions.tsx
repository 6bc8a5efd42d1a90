/** How much of a subscription is looked at. */
import { under } from '../../server/base.ts'
import { t } from '../../texts/texts.ts'
import { useConfig } from './config.ts'
import { Loaded } from './loaded.tsx'
import { Group, NumberOption, SwitchOption } from './option.tsx'

const SIZES = ['channel_size', 'live_channel_size', 'shorts_channel_size'] as const

export function SubscriptionsSection() {
  const config = useConfig()
  return (
    <Loaded from={config}>
      {({ subscriptions }) => (
        <>
          <Group title={t('settings.scan')} hint={t('settings.scan.hint')}>
            {SIZES.map((key) => (
              <NumberOption
                key={key}
                label={t(`settings.${key}`)}
                unit={t('settings.newest')}
                min={0}
                max={1_000_000}
                field={`subscriptions.${key}`}
                value={subscriptions[key]}
                empty={0}
                onSave={(size) => config.save({ subscriptions: { [key]: size } })}
              />
            ))}
          </Group>
          <Group title={t('settings.found')}>
            <SwitchOption
              label={t('settings.autoStart')}
              hint={t('settings.autoStart.hint')}
              value={subscriptions.auto_start}
              onSave={(on) => config.save({ subscriptions: { auto_start: on } })}
            />
          </Group>
          <p class="hint">
            {t('settings.scan.when')}{' '}
            <a href={under('/settings/schedules/')} class="link">
              {t('settings.schedules')}
            </a>
          </p>
        </>
      )}
    </Loaded>
  )
}
