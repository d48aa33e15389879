#!/usr/bin/perl
# Registers a domain at an EPP server, and moves it to another registrar. Prints what each step returned, one JSON line each.
# Usage: net_epp.pl PORT CA_FILE
use strict;
use warnings;
use JSON::PP;
use Net::EPP::Simple;

my ($port, $ca) = @ARGV;
my $json = JSON::PP->new->canonical->allow_nonref;
$| = 1;

sub login {
	my ($user, $password) = @_;
	my $epp = Net::EPP::Simple->new(
		host => 'localhost', port => $port, user => $user, pass => $password,
		load_config => 0, timeout => 20, reconnect => 0, verify => 1, ca_file => $ca,
	);
	step("login $user", defined($epp) ? 1 : undef);
	return $epp;
}

sub step {
	my ($name, $result) = @_;
	print $json->encode([$name, 0 + ($Net::EPP::Simple::Code // 0), $result]), "\n";
}

login('registrar-1', 'wrong-password');
my $epp = login('registrar-1', 'first-password') or exit 1;
login('registrar-1', 'first-password');
step('greeting', $epp->greeting->getElementsByTagName('svID')->shift->textContent);
step('check', $epp->check_domain('netepp.com'));
step('create contact', $epp->create_contact({
	id => 'sh8013', voice => '+33.123456789', fax => '', email => 'hostmaster@example.com', authInfo => 'contact-code',
	postalInfo => { int => { name => 'Ada Example', org => 'Example & Sons', addr => {
		street => ['5 Example Street'], city => 'Paris', sp => '', pc => '75001', cc => 'FR' } } },
}));
step('contact', $epp->contact_info('sh8013')->{postalInfo}->{int}->{org});
step('create host', $epp->create_host({ name => 'ns1.example.net', addrs => [{ ip => '192.0.2.1', version => 'v4' }] }));
step('host', $epp->host_info('ns1.example.net')->{addrs}->[0]->{addr});
my %domain = (
	name => 'netepp.com', period => 2, registrant => 'sh8013', authInfo => 'domain-code',
	contacts => { admin => 'sh8013', tech => 'sh8013' }, ns => ['ns1.example.net'],
);
step('create', $epp->create_domain({ %domain }));
step('create again', $epp->create_domain({ %domain }));
step('check taken', $epp->check_domain('netepp.com'));
my $info = $epp->domain_info('netepp.com');
step('info', { map { $_ => $info->{$_} } qw(name registrant ns clID status authInfo exDate) });
my ($expires) = split(/T/, $info->{exDate});
step('renew', $epp->renew_domain({ name => 'netepp.com', cur_exp_date => $expires, period => 1 }));
step('renew again', $epp->renew_domain({ name => 'netepp.com', cur_exp_date => $expires, period => 1 }));
step('renewed', $epp->domain_info('netepp.com')->{exDate});
step('lock', $epp->update_domain({ name => 'netepp.com', add => { status => ['clientTransferProhibited'] } }));

my $other = login('registrar-2', 'other-password') or exit 1;
step('not theirs', $other->update_domain({ name => 'netepp.com', add => { status => ['clientHold'] } }));
step('transfer locked', $other->domain_transfer_request('netepp.com', 'domain-code', 1));
step('unlock', $epp->update_domain({ name => 'netepp.com', rem => { status => ['clientTransferProhibited'] } }));
step('transfer, wrong code', $other->domain_transfer_request('netepp.com', 'other-code', 1));
my $transfer = $other->domain_transfer_request('netepp.com', 'domain-code', 1);
step('transfer', { trStatus => $transfer->{trStatus}, reID => $transfer->{reID}, acID => $transfer->{acID} });
step('approve', $epp->domain_transfer_approve('netepp.com'));
step('theirs', $other->domain_info('netepp.com')->{clID});
step('delete', $other->delete_domain('netepp.com'));
step('gone', $other->domain_info('netepp.com'));
step('ping', $other->ping);
step('logout', $other->logout);
