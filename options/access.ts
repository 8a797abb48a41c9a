import { Type } from '@sinclair/typebox'
import { Rule, type RulesDefault } from '../protocol/rules/rule.js'

const Scopes = Type.Array(
  Type.String({
    pattern: '^[!#-\\[\\]-~]{1,128}$',
    'x-expected': 'must be a scope: up to 128 characters, without spaces and quotes'
  })
)
/** A key that is accepted. Only its hash is stored. */
export const ApiKey = Type.Object(
  {
    name: Type.String({
      pattern: '^[A-Za-z0-9._@-]{1,64}$',
      'x-expected': 'must be up to 64 letters, digits and . _ @ -'
    }),
    hash: Type.String({
      pattern: '^sha256:[0-9a-f]{64}$',
      'x-expected': 'must be sha256: and 64 hexadecimal digits, as "patchbay key NAME" prints it'
    }),
    scopes: Scopes,
    expires: Type.Optional(
      Type.String({
        pattern: '^\\d{4}-\\d{2}-\\d{2}(T[0-9:.]+Z)?$',
        'x-expected': 'must be a date (YYYY-MM-DD) or a time such as 2027-01-31T12:00:00Z'
      })
    ),
    view: Type.Optional(Type.String({ minLength: 1, 'x-expected': 'must be the name of a view' }))
  },
  { additionalProperties: false }
)
const OAuth = Type.Object(
  {
    issuer: Type.String({ pattern: '^https?://', 'x-expected': 'must be an https URL' }),
    resource: Type.String({
      pattern: '^https?://[^#]+[^#/]$',
      'x-expected':
        'must be the https URL that clients use, without # and without a slash at the end, for example https://mcp.example.com/mcp'
    }),
    jwks: Type.Optional(Type.String({ pattern: '^https?://', 'x-expected': 'must be an https URL' })),
    algorithms: Type.Optional(
      Type.Array(
        Type.String({
          pattern: '^(RS|PS|ES)(256|384|512)$|^EdDSA$|^Ed25519$',
          'x-expected': 'must be a signature algorithm such as RS256, ES256 or EdDSA'
        }),
        { minItems: 1 }
      )
    ),
    scopes: Type.Optional(Scopes),
    viewClaim: Type.Optional(
      Type.String({
        minLength: 1,
        'x-expected': 'must be the name of a claim, or scope for scopes such as view:release'
      })
    ),
    consoleClientId: Type.Optional(
      Type.String({
        minLength: 1,
        'x-expected': 'must be the id under which the console is registered at the authorization server'
      })
    )
  },
  {
    additionalProperties: false,
    description:
      'The authorization server whose access tokens are accepted: `issuer`, and `resource`, the URL that clients use for this server; also `jwks`, `algorithms`, `scopes`, `viewClaim`, `consoleClientId`',
    examples: [{ issuer: 'https://auth.example.com', resource: 'https://mcp.example.com/mcp' }]
  }
)

const Webhook = Type.Object(
  {
    url: Type.String({ pattern: '^https?://', 'x-expected': 'must be an https URL' }),
    // Other characters say nothing in Base64: the key would be short, or empty.
    secret: Type.String({
      pattern: '^(?:(?!whsec_)[\\s\\S]{24,}|whsec_[A-Za-z0-9+/_-]{24,}={0,2})$',
      'x-expected':
        'must have at least 24 characters, as "openssl rand -hex 32" prints them, of Base64 alone behind "whsec_"'
    })
  },
  {
    additionalProperties: false,
    description:
      'Where calls that wait for an operator are sent, signed with a `secret`, and from where they are answered: [Approval](approval.md#a-webhook)',
    examples: [{ url: 'https://desk.example.com/approvals', secret: '…' }]
  }
)

/** Who may call what, from where. */
export const access = {
  allowedHosts: Type.Array(Type.String(), {
    default: [],
    description: 'Values of the `Host` header that are accepted, besides loopback names'
  }),
  allowedOrigins: Type.Array(Type.String(), {
    default: [],
    description: 'Web origins that may send requests, besides loopback ones and that of the gateway itself'
  }),
  trustProxy: Type.Optional(
    Type.Union([Type.Boolean(), Type.Array(Type.String({ minLength: 1 }))], {
      'x-expected':
        'must be true, false or a list of the addresses and networks of your proxies, for example ["10.0.0.0/8"]',
      description:
        'Addresses and networks of proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` are trusted; `true` trusts every sender. Without it the gateway cannot know that a proxy ended TLS, and its own origin counts with `http:`, too'
    })
  ),
  apiKeys: Type.Array(ApiKey, {
    default: [],
    examples: [[{ name: 'ada', hash: 'sha256:...', scopes: ['mcp'] }]],
    description:
      'The accepted API keys (name, hash, scopes, expiry, and the [view](views.md#bind-a-credential-to-a-view) that a key is bound to); `patchbay key NAME` creates one'
  }),
  oauth: Type.Optional(OAuth),
  scopes: Type.Record(Type.String({ pattern: '^(tools|resources|prompts)/.' }), Scopes, {
    additionalProperties: false,
    default: {},
    examples: [{ 'tools/web_search': ['search'] }],
    description:
      'The scopes that a tool, resource or prompt requires, in place of those in its definition, for example {"tools/web_search":["search"]}'
  }),
  rules: Type.Array(Rule, {
    default: [],
    examples: [[{ deny: ['*__delete_*'], for: { not: { scope: 'admin' } } }]],
    description:
      'Rules that allow or deny what callers do, by caller, name and arguments; the first that matches decides: [Rules](rules.md)'
  }),
  rulesDefault: Type.Unsafe<RulesDefault>({
    type: 'string',
    enum: ['allow', 'deny'],
    default: 'allow',
    'x-expected': 'must be allow or deny',
    description: 'What is decided about a tool, prompt or resource that no rule matches: `allow` or `deny`'
  }),
  approvalWebhook: Type.Optional(Webhook),
  token: Type.Optional(
    Type.String({
      minLength: 1,
      description:
        'The API key or access token that decides what the stdio client may do; without one it may do everything'
    })
  ),
  allowAnonymous: Type.Boolean({
    default: false,
    description: 'Serve other machines without authentication. Embedded: a request without an identity has every right'
  })
}
