/**
 * The headers of the console: it loads and runs nothing but its own files, is in no frame, and speaks to this gateway
 * and the issuer of its tokens alone.
 */
export function securityHeaders (issuer: string | undefined): Record<string, string> {
  return {
    'content-security-policy': policy(issuer === undefined ? [] : [new URL(issuer).origin]),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'x-frame-options': 'DENY',
    'permissions-policy': UNUSED.map(feature => `${feature}=()`).join(', ')
  }
}

/** Features of browsers that a hostile server might want, and the console does not use. */
const UNUSED = ['camera', 'microphone', 'geolocation', 'payment', 'usb', 'serial', 'hid', 'midi', 'display-capture']

function policy (issuers: string[]): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    'media-src blob: data:',
    ['connect-src', "'self'", ...issuers].join(' '),
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types check-worker'
  ].join('; ')
}
